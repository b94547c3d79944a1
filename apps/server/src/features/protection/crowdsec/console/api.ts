import { randomBytes } from 'node:crypto';
import { refuse } from '@sallyport/store/errors';
import { type SafeFetch, SafeFetchError, type SafeResponse } from '../../../../net/safe-fetch.ts';
import type { ConsoleCredentials } from './credentials.ts';

/** That of CrowdSec's makers. */
export const CONSOLE = 'https://api.crowdsec.net';

const TIMEOUT_MS = 10_000;
const LONGEST_WORDS = 300;

export interface Enrolment {
  token: string;
  name: string;
  tags: readonly string[];
}

/** 64 letters and digits. */
const newPassword = (): string => randomBytes(96).toString('base64').replaceAll(/[+/=]/g, '').slice(0, 64);

const fieldsOf = ({ body }: SafeResponse): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
};

/** What it says, without what it may repeat of what it was sent, and without what would break a line. */
const wordsOf = (answer: SafeResponse, secrets: readonly string[]): string => {
  const { message } = fieldsOf(answer);
  if (typeof message !== 'string') return `it answers ${answer.status}`;
  const text = secrets.reduce((words, secret) => words.replaceAll(secret, '…'), message);
  return `it answers ${answer.status}: ${text.replaceAll(/\p{Cc}/gu, ' ').slice(0, LONGEST_WORDS)}`;
};

/**
 * Makes a machine known to the central API at `url`, and enrols it at the console. Resolves with who it is there. Throws a 422 with the
 * console's words when it refuses the token, and a 503 that says why when it can't be asked.
 */
export const enrolAt = async (
  { url, fetch }: { url: string; fetch: SafeFetch },
  { token, name, tags }: Enrolment,
): Promise<ConsoleCredentials> => {
  const login = randomBytes(24).toString('hex');
  const password = newPassword();
  const ask = async (path: string, body: object, session?: string): Promise<SafeResponse> => {
    try {
      return await fetch(`${url}/v2/watchers${path}`, {
        method: 'POST',
        // The setting that names it allows http within this machine only.
        protocols: ['https:', 'http:'],
        headers: {
          'content-type': 'application/json',
          'user-agent': 'sallyport/1.0',
          ...(session === undefined ? {} : { authorization: `Bearer ${session}` }),
        },
        body: JSON.stringify(body),
        timeoutMs: TIMEOUT_MS,
      });
    } catch (error) {
      if (!(error instanceof SafeFetchError)) throw error;
      throw refuse.unavailable(`The console at ${url} can not be asked: ${error.message}`);
    }
  };
  const isTaken = ({ status }: SafeResponse) => status >= 200 && status < 300;
  const words = (answer: SafeResponse) => wordsOf(answer, [token, password, login]);
  const known = async (path: string, body: object): Promise<SafeResponse> => {
    const answer = await ask(path, body);
    if (!isTaken(answer)) throw refuse.unavailable(`The console at ${url} takes no new machine: ${words(answer)}`);
    return answer;
  };
  await known('', { machine_id: login, password });
  const { token: session } = fieldsOf(await known('/login', { machine_id: login, password, scenarios: [] }));
  if (typeof session !== 'string' || !/^[\w.~+/=-]+$/.test(session)) {
    throw refuse.unavailable(`The console at ${url} takes no new machine: it gave no token to sign in with`);
  }
  const answer = await ask('/enroll', { attachment_key: token, name, tags, overwrite: false }, session);
  if (answer.status >= 400 && answer.status < 500) {
    throw refuse.unprocessable(`The console refuses the token: ${words(answer)}`);
  }
  if (!isTaken(answer)) throw refuse.unavailable(`The console at ${url} did not enrol: ${words(answer)}`);
  return { url, login, password };
};
