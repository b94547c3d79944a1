import { AcmeProblem, AcmeProtocolError, AcmeUnreachable } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { AcmeRequest, AcmeResponse, AcmeTransport } from '../model/transport.ts';
import { isObject, member } from '../read/json.ts';
import { readProblem } from '../read/problem.ts';
import { readRetryAfter } from '../read/retry-after.ts';
import { readText } from '../read/text.ts';

export interface AskDeps {
  transport: AcmeTransport;
  userAgent: string;
  requestTimeoutMs: number;
  /** Ends everything that is under way. */
  signal: AbortSignal | undefined;
}

/** Makes one request and returns whatever answer comes. Rejects with `AcmeUnreachable`, or the signal's reason. */
export type Ask = (request: Omit<AcmeRequest, 'signal'>) => Promise<AcmeResponse>;

/** Rejects as soon as the signal ends, whether the transport heeds it or not. */
const endingWith = <T>(signal: AbortSignal, work: Promise<T>): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = () => reject(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  // Whichever loses is heard by nobody else.
  promise.catch(() => {});
  work.catch(() => {});
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', end));
};

export const contentTypeOf = ({ headers }: AcmeResponse): string =>
  readText(headers.get('content-type'), 200).split(';', 1)[0]?.trim().toLowerCase() ?? '';

const tryParse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The CA's own problem document; undefined when an error comes from something that speaks no ACME, a balancer say. */
const problemIn = (response: AcmeResponse, url: string, retryAfter: Date | undefined): AcmeProblem | undefined => {
  const contentType = contentTypeOf(response);
  if (contentType !== 'application/problem+json' && contentType !== 'application/json') return undefined;
  const document = tryParse(response.body);
  if (!isObject(document) || typeof member(document, 'type') !== 'string') return undefined;
  return new AcmeProblem(readProblem(document, response.status), url, { retryAfter });
};

/** Throws what an answer is that is not of 2xx, or too large. */
export const checkAnswer = (response: AcmeResponse, url: string, now: Date): void => {
  const { status, headers, body } = response;
  if (!Number.isInteger(status) || status < 200)
    throw new AcmeProtocolError(url, `the answer has the status ${status}`);
  if (Buffer.byteLength(body) > limits.answerBytes) {
    throw new AcmeProtocolError(url, `the answer is larger than ${limits.answerBytes} bytes`);
  }
  if (status < 300) return;
  if (status < 400) {
    const target = JSON.stringify(readText(headers.get('location'), 300));
    throw new AcmeProtocolError(url, `the answer is a redirect (${status}) to ${target}, which is not followed`);
  }
  const retryAfter = readRetryAfter(headers.get('retry-after'), now);
  const problem = problemIn(response, url, retryAfter);
  if (problem !== undefined) throw problem;
  const what = `the answer is an error (${status}) without the reason that ACME demands`;
  if (status >= 500 || status === 429) throw new AcmeUnreachable(url, what, { retryAfter });
  throw new AcmeProtocolError(url, what, { status });
};

const reasonOf = (error: unknown): string => readText(error instanceof Error ? error.message : String(error), 300);

/** Makes what all requests of a client go through: a time limit, and one kind of error for what fails. */
export const createAsk =
  ({ transport, userAgent, requestTimeoutMs, signal: outer }: AskDeps): Ask =>
  async (request) => {
    outer?.throwIfAborted();
    const deadline = AbortSignal.timeout(requestTimeoutMs);
    const signal = outer === undefined ? deadline : AbortSignal.any([deadline, outer]);
    const headers = { 'user-agent': userAgent, ...request.headers };
    let response: AcmeResponse;
    try {
      response = await endingWith(signal, transport({ ...request, headers, signal }));
    } catch (error) {
      outer?.throwIfAborted();
      if (error instanceof AcmeProtocolError || error instanceof AcmeUnreachable) throw error;
      if (deadline.aborted)
        throw new AcmeUnreachable(request.url, `no answer within ${requestTimeoutMs / 1_000} seconds`);
      throw new AcmeUnreachable(request.url, reasonOf(error), { cause: error });
    }
    return response;
  };
