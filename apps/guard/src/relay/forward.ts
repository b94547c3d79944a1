import { Agent, type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type AnswerStart, readAnswerStart } from './answer-start.ts';
import { endToEnd, type FlatHeaders } from './headers.ts';
import type { HeldBody } from './held-body.ts';
import { NoAnswer } from './no-answer.ts';

/** Names that only we may give to HAProxy. */
const OURS = new Set(['x-sallyport-refused']);
/** What the relay was told, and what it says anew. */
const NOT_FORWARDED = new Set(['x-sallyport-client', 'x-sallyport-inspect', 'content-length']);
/** What is inspected has to be readable, so the origin is not offered to compress it. */
const NOT_FORWARDED_WHEN_INSPECTED = new Set([...NOT_FORWARDED, 'accept-encoding']);

/** Judges an answer; returns whether it may be passed on, having answered the client itself when not. */
export type InspectAnswer = (answer: IncomingMessage, start: AnswerStart | undefined) => boolean;

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/** Hands judged requests back to HAProxy, which takes them to their origin. */
export const createForwarder = (socketPath: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 512, maxFreeSockets: 32 });

  const send = (incoming: IncomingMessage, body: HeldBody, isInspected: boolean): ClientRequest => {
    const headers = endToEnd(incoming.rawHeaders, isInspected ? NOT_FORWARDED_WHEN_INSPECTED : NOT_FORWARDED);
    if (hasBody(incoming)) headers.push('Content-Length', String(body.bytes));
    return request({
      agent,
      socketPath,
      method: incoming.method ?? 'GET',
      path: incoming.url ?? '/',
      headers,
      // Node would add a Host of its own.
      setDefaultHeaders: false,
    });
  };

  const answered = (outgoing: ClientRequest): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      outgoing.once('response', resolve);
      outgoing.once('error', (cause) => reject(new NoAnswer('HAProxy did not answer', { cause })));
    });

  return {
    /** Sends the request on and its answer back, at the speed of the slower side. Rejects with NoAnswer before any of it. */
    async forward(
      incoming: IncomingMessage,
      body: HeldBody,
      response: ServerResponse,
      inspect?: InspectAnswer,
    ): Promise<void> {
      const outgoing = send(incoming, body, inspect !== undefined);
      const answer = answered(outgoing);
      const abort = (): void => void outgoing.destroy();
      response.once('close', abort);
      const stream = body.stream();
      if (stream instanceof Buffer) outgoing.end(stream);
      // An origin may answer before it has read everything, and then close.
      else pipeline(stream, outgoing).catch(() => {});
      const upstream = await answer;
      const headers: FlatHeaders = endToEnd(upstream.rawHeaders, OURS);
      try {
        const start = inspect && (await readAnswerStart(upstream));
        if (inspect && !inspect(upstream, start)) {
          outgoing.destroy();
          return;
        }
        response.sendDate = false;
        response.writeHead(upstream.statusCode ?? 502, upstream.statusMessage ?? '', headers as string[]);
        const addTrailers = (): void => {
          if (upstream.rawTrailers.length > 0) response.addTrailers(toPairs(upstream.rawTrailers));
        };
        if (start && start.body.length > 0) response.write(start.body);
        if (start?.isWhole) {
          addTrailers();
          response.end();
          return;
        }
        upstream.once('end', addTrailers);
        await pipeline(upstream, response);
      } catch (error) {
        outgoing.destroy();
        // Without a verdict there is a refusal with its reason, not HAProxy's page about an origin that broke off.
        if (!(error instanceof NoAnswer || response.headersSent || response.destroyed)) throw error;
        // Half an answer must not look like a whole one.
        response.destroy();
      } finally {
        response.removeListener('close', abort);
      }
    },
    stop: (): void => agent.destroy(),
  };
};
export type Forwarder = ReturnType<typeof createForwarder>;

const toPairs = (flat: FlatHeaders): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? '', flat[2 * i + 1] ?? '']);
