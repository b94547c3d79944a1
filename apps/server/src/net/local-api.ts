import { answerDeadline } from '@sallyport/deployment/patience';

interface LocalQuestion {
  path: string;
  /** Default GET. */
  method?: 'GET' | 'POST' | 'DELETE';
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  timeoutMs: number;
  /** Longest answer that is taken, bytes. */
  limit?: number;
}

/** Where the program listens: a port of 127.0.0.1, or a Unix socket. */
export type LocalRequest = LocalQuestion & ({ port: number } | { socketPath: string });

export interface LocalAnswer {
  status: number;
  /** The parsed JSON; undefined when it is none. */
  body: unknown;
}

const LIMIT = 64 * 1024 * 1024;

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Asks a program on this machine, at 127.0.0.1 or a Unix socket only, for JSON. Rejects when it does not answer in time or with too much. */
export const askLocal = async (asked: LocalRequest): Promise<LocalAnswer> => {
  const { path, method = 'GET', body, headers = {}, timeoutMs, limit = LIMIT } = asked;
  const text = body === undefined ? undefined : JSON.stringify(body);
  const type =
    text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  const place = 'port' in asked ? { host: '127.0.0.1', port: asked.port } : { socketPath: asked.socketPath };
  // Loaded by who asks: it brings a second client along, and most servers ask nobody.
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    const signal = answerDeadline(timeoutMs);
    const sent = request(
      { ...place, method, path, headers: { ...headers, ...type }, signal, agent: false },
      (response) => {
        const parts: Buffer[] = [];
        let size = 0;
        response.on('data', (part: Buffer) => {
          size += part.length;
          if (size > limit) response.destroy(new Error(`the answer has more than ${limit} bytes`));
          else parts.push(part);
        });
        response.once('error', reject);
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, body: parse(Buffer.concat(parts).toString('utf8')) }),
        );
      },
    );
    sent.once('error', reject);
    // Without an answer and without an error it closes when the other side goes over to another protocol.
    sent.once('close', () => reject(new Error('it ended without an answer')));
    sent.end(text);
  });
};
