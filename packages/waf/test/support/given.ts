import type { WafRequest } from '../../src/index.ts';

export type GivenRequest = {
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Latin-1 text or bytes. */
  readonly body?: string | Uint8Array;
  readonly now?: number;
  readonly clientAddress?: string;
};

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

/** Test data with sensible defaults: a GET of "/" from 203.0.113.7. */
export const given = {
  request: (request: GivenRequest): WafRequest => ({
    method: bytes(request.method ?? 'GET'),
    uri: bytes((request.path ?? '/') + (request.query === undefined ? '' : `?${request.query}`)),
    httpVersion: bytes('HTTP/1.1'),
    headers: Object.entries({ Host: 'shop.example', ...request.headers }).map(([name, value]) => [
      bytes(name),
      bytes(value),
    ]),
    body: request.body === undefined ? null : typeof request.body === 'string' ? bytes(request.body) : request.body,
    clientAddress: request.clientAddress ?? '203.0.113.7',
    clientPort: 50_000,
    serverAddress: '192.0.2.1',
    serverPort: 443,
    uniqueId: 'test-1',
    now: request.now ?? Date.UTC(2026, 1, 1),
  }),
};
