import { type KeyObject, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DnsChallenge } from '../writer.ts';
import { openSigned } from './account-key.ts';

/** An answer is begun at once, and ended when there is something to tell: lego waits in it, and not between two questions. */
const HOLD_MS = 50 * 60_000;
/** Between two questions, after that. */
const RETRY_AFTER_SECONDS = 5;
const MAX_BODY_BYTES = 64 * 1024;

export interface RelayOptions {
  challenges: readonly DnsChallenge[];
  /** Of the account; nobody else is answered. */
  publicKey: KeyObject;
  certificate: string;
  key: string;
}

export interface Relay {
  /** The directory that lego is given. */
  url: string;
  /** Resolves when lego has had all records set, and waits. */
  presented: Promise<void>;
  /** Tells lego that it is over, so that it takes the records away. */
  finish(): void;
  stop(): Promise<void>;
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw new Error('the request is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

const problem = {
  type: 'urn:ietf:params:acme:error:unauthorized',
  detail: 'the records are no longer needed',
  status: 403,
};

/**
 * A certificate authority on loopback (RFC 8555) that has lego, a whole ACME client, do one thing: set the records of challenges that
 * another authority gave, keep them until it is told to end, and take them away. It hands out no certificate.
 */
export const startRelay = async ({ challenges, publicKey, certificate, key }: RelayOptions): Promise<Relay> => {
  const presented = Promise.withResolvers<void>();
  const finished = new AbortController();
  const asked = new Set<number>();
  let base = '';

  const send = (
    response: ServerResponse,
    status: number,
    body: unknown,
    headers: Record<string, string> = {},
  ): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };

  const statusOf = (index: number): string => {
    if (finished.signal.aborted) return 'invalid';
    if (!asked.has(index)) return 'pending';
    // All but the last that it comes to are proven at once, which lets it go on to the next.
    return asked.size < challenges.length ? 'valid' : 'processing';
  };

  const challengeAt = (index: number) => {
    const status = statusOf(index);
    const error = status === 'invalid' ? { error: problem } : {};
    return { type: 'dns-01', url: `${base}/challenge/${index}`, token: challenges[index]?.token, status, ...error };
  };

  const authorizationAt = (index: number) => {
    const { domain } = challenges[index] as DnsChallenge;
    const status = statusOf(index);
    const isSecond = challenges.findIndex((one) => one.domain === domain) !== index;
    return {
      status: status === 'processing' ? 'pending' : status,
      identifier: { type: 'dns', value: domain },
      ...(isSecond ? { wildcard: true } : {}),
      challenges: [challengeAt(index)],
    };
  };

  /** Answers when it is over, with headers now. */
  const hold = async (
    response: ServerResponse,
    headers: Record<string, string>,
    body: () => unknown,
  ): Promise<void> => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).flushHeaders();
    await sleep(HOLD_MS, undefined, { signal: finished.signal, ref: false }).catch(() => {});
    response.end(JSON.stringify(body()));
  };

  const answer = async (path: string, payload: string, response: ServerResponse): Promise<void> => {
    const [, what, number = ''] = /^\/([a-z-]+)(?:\/(\d+))?$/.exec(path) ?? [];
    const index = Number(number);
    if (what === 'new-account' || what === 'account') {
      return send(response, 201, { status: 'valid' }, { location: `${base}/account` });
    }
    if (what === 'new-order') {
      const { identifiers } = JSON.parse(payload) as { identifiers: unknown };
      const authorizations = challenges.map((_one, at) => `${base}/authorization/${at}`);
      const order = { status: 'pending', identifiers, authorizations, finalize: `${base}/finalize` };
      return send(response, 201, order, { location: `${base}/order` });
    }
    if (number === '' || index >= challenges.length) return send(response, 403, problem);
    if (what === 'authorization') {
      if (statusOf(index) === 'processing') return hold(response, {}, () => authorizationAt(index));
      return send(response, 200, authorizationAt(index));
    }
    if (what !== 'challenge') return send(response, 404, problem);
    asked.add(index);
    const headers = {
      link: `<${base}/authorization/${index}>;rel="up"`,
      'retry-after': String(RETRY_AFTER_SECONDS),
    };
    if (statusOf(index) !== 'processing') return send(response, 200, challengeAt(index), headers);
    presented.resolve();
    return hold(response, headers, () => challengeAt(index));
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.setHeader('replay-nonce', randomBytes(16).toString('base64url'));
    const { url = '', method } = request;
    if (url === '/directory') {
      const names = {
        newNonce: 'nonce',
        newAccount: 'new-account',
        newOrder: 'new-order',
        revokeCert: 'no',
        keyChange: 'no',
      };
      return send(
        response,
        200,
        Object.fromEntries(Object.entries(names).map(([name, at]) => [name, `${base}/${at}`])),
      );
    }
    if (url === '/nonce') return send(response, 200, {});
    const payload = method === 'POST' ? openSigned(await bodyOf(request), publicKey) : undefined;
    if (payload === undefined)
      return send(response, 401, { ...problem, detail: 'not signed with the key of the account' });
    return answer(url, payload, response);
  };

  const server = createServer({ cert: certificate, key }, (request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  base = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${base}/directory`,
    presented: presented.promise,
    finish: () => finished.abort(),
    async stop() {
      finished.abort();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};
