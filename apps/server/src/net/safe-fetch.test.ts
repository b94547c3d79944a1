import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificate } from '../../../../test/support/certificates.ts';
import { isBlockedAddress, isBlockedName } from './blocked-addresses.ts';
import { createSafeFetch, type SafeFetchError } from './safe-fetch.ts';

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));

const failure = async (work: Promise<unknown>): Promise<SafeFetchError> => {
  try {
    await work;
  } catch (error) {
    return error as SafeFetchError;
  }
  throw new Error('it did not fail');
};

describe('with the rules of production', () => {
  const asked: string[] = [];
  const answers: Record<string, string[]> = {
    'private.example': ['10.0.0.1'],
    'mixed.example': ['1.1.1.1', '127.0.0.1'],
    'mapped.example': ['::ffff:192.168.1.1'],
    'nat64.example': ['64:ff9b::a9fe:a9fe'],
    'empty.example': [],
  };
  const fetch = createSafeFetch({
    lookup: async (name) => {
      asked.push(name);
      const addresses = answers[name];
      if (!addresses) throw new Error('ENOTFOUND');
      return addresses;
    },
  });
  const head = (url: string) => fetch(url, { method: 'HEAD', protocols: ['http:', 'https:'], timeoutMs: 1_000 });

  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://0x7f.1/',
    'http://0x7f000001/',
    'http://2130706433/',
    'http://017700000001/',
    'http://0177.0.0.1/',
    'http://127.0.0.1./',
    'http://①②⑦.⓪.⓪.①/',
    'http://0/',
    'http://[::1]/',
    'http://[::]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/latest/meta-data',
    'http://169.254.169.254/latest/meta-data/',
    'http://0xa9fea9fe/',
    'https://10.1.2.3:8443/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://api.localhost:8080/',
    'http://metadata.google.internal/computeMetadata/v1/',
    'http://metadata.google.internal./',
    'http://private.example/',
    'http://mixed.example/',
    'http://mapped.example/',
    'http://nat64.example/',
  ])('refuses %s', async (url) => {
    expect(await failure(head(url))).toMatchObject({
      reason: 'blocked',
      message: 'URL resolves to a private IP address (blocked for security)',
    });
  });

  test.each([
    '',
    'example.com',
    '//example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/_x',
    'http://',
    'http://user@example.com/',
    'http://user:password@example.com/',
    'http://[::1',
    'http://example.com:99999/',
    'http://exa mple.com/',
    'javascript:alert(1)',
  ])('takes "%s" for no URL', async (url) => {
    asked.length = 0;
    expect(await failure(head(url))).toMatchObject({ reason: 'invalid_url', message: 'invalid URL format' });
    expect(asked).toEqual([]);
  });

  test('tells a name that does not resolve from one that may not be asked for', async () => {
    expect(await failure(head('http://unknown.example/'))).toMatchObject({ reason: 'unresolved' });
    expect(await failure(head('http://empty.example/'))).toMatchObject({ reason: 'unresolved' });
  });

  test('takes https only, unless told otherwise', async () => {
    expect(await failure(fetch('http://private.example/', { method: 'GET' }))).toMatchObject({ reason: 'invalid_url' });
  });

  test('does not wait for a name server that does not answer', async () => {
    const silent = createSafeFetch({ lookup: () => new Promise(() => {}) });
    const error = await failure(silent('https://slow.example/', { method: 'HEAD', lookupTimeoutMs: 30 }));
    expect(error).toMatchObject({ reason: 'timeout' });
  });
});

describe('against servers that stand for public ones', () => {
  let server: Server;
  let port = 0;
  let handler: RequestListener = (_request, response) => void response.end();
  let requests: IncomingMessage[] = [];
  let addresses: Record<string, string[]> = {};
  let lookups = 0;

  beforeAll(async () => {
    server = createServer((request, response) => {
      requests.push(request);
      handler(request, response);
    });
    port = await listen(server);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Only this server's own port stands for a public destination; everything else keeps its rule. */
  const fetch = createSafeFetch({
    lookup: async (name) => {
      lookups += 1;
      return addresses[name] ?? ['127.0.0.1'];
    },
    addressPolicy: {
      isBlockedAddress: (address, at) => !(address === '127.0.0.1' && at === port) && isBlockedAddress(address),
      isBlockedName,
    },
  });
  const protocols = ['http:', 'https:'] as const;
  const url = (path = '/') => `http://public.example:${port}${path}`;
  const start = (next: RequestListener) => {
    handler = next;
    requests = [];
    addresses = {};
    lookups = 0;
  };

  test('sends the request to the address that was checked, under the name of the URL', async () => {
    start((_request, response) => response.writeHead(204, { 'x-a': 'b' }).end());
    const answer = await fetch(url('/path?q=1'), { method: 'HEAD', protocols });
    expect(answer).toMatchObject({ status: 204, url: url('/path?q=1'), headers: { 'x-a': 'b' } });
    expect(requests[0]).toMatchObject({ method: 'HEAD', url: '/path?q=1' });
    expect(requests[0]?.headers.host).toBe(`public.example:${port}`);
    // One look-up: a second one, at connecting, is where DNS rebinding would come in.
    expect(lookups).toBe(1);
  });

  test('posts a body, and follows no redirect with it', async () => {
    let received = '';
    start(async (request, response) => {
      for await (const chunk of request) received += String(chunk);
      response.writeHead(307, { location: url('/other') }).end('moved');
    });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url(), { method: 'POST', protocols, headers, body: '{"a":1}', maxRedirects: 5 });
    expect(answer).toMatchObject({ status: 307 });
    expect(received).toBe('{"a":1}');
    expect(requests).toHaveLength(1);
  });

  test('follows two redirects and not three', async () => {
    start((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left > 0) response.writeHead(302, { location: `/${left - 1}` }).end();
      else response.end();
    });
    const head = (path: string) => fetch(url(path), { method: 'HEAD', protocols, maxRedirects: 2 });
    expect(await head('/2')).toMatchObject({ status: 200, url: url('/0') });
    expect(await failure(head('/3'))).toMatchObject({ reason: 'too_many_redirects' });
  });

  test.each([
    'http://169.254.169.254/latest/meta-data',
    'http://127.0.0.1:1/',
    'http://[::1]/',
    'http://metadata.google.internal/',
    'http://inside.example/',
  ])('checks a redirect like the first URL: %s', async (location) => {
    start((_request, response) => response.writeHead(301, { location }).end());
    addresses = { 'inside.example': ['192.168.0.1'] };
    expect(await failure(fetch(url(), { method: 'HEAD', protocols, maxRedirects: 2 }))).toMatchObject({
      reason: 'blocked',
    });
    expect(requests).toHaveLength(1);
  });

  test.each(['file:///etc/passwd', 'http://', 'http://a:b@public.example/'])(
    'follows no redirect to what is no URL of its kind: %s',
    async (location) => {
      start((_request, response) => response.writeHead(301, { location }).end());
      const error = await failure(fetch(url(), { method: 'HEAD', protocols, maxRedirects: 2 }));
      expect(error).toMatchObject({ reason: 'unreachable' });
    },
  );

  test('goes by the address of the first look-up, whatever the name resolves to afterwards', async () => {
    start((_request, response) => response.end('public'));
    const rebinding = createSafeFetch({
      lookup: async () => {
        lookups += 1;
        return lookups === 1 ? ['127.0.0.1'] : ['10.0.0.1'];
      },
      addressPolicy: { isBlockedAddress: (address) => address !== '127.0.0.1', isBlockedName },
    });
    expect((await rebinding(url(), { method: 'GET', protocols })).body.toString()).toBe('public');
  });

  test('tries the next address when one refuses the connection', async () => {
    start((_request, response) => response.end('here'));
    const several = createSafeFetch({
      lookup: async () => ['127.0.0.2', '127.0.0.1'],
      addressPolicy: { isBlockedAddress: () => false, isBlockedName },
    });
    expect((await several(url(), { method: 'GET', protocols })).body.toString()).toBe('here');
  });

  test('reads only so much, waits only so long', async () => {
    start((_request, response) => response.end('x'.repeat(1_000)));
    expect(await failure(fetch(url(), { method: 'GET', protocols, maxBytes: 999 }))).toMatchObject({
      reason: 'too_large',
    });
    expect((await fetch(url(), { method: 'GET', protocols, maxBytes: 1_000 })).body).toHaveLength(1_000);
    start(() => {});
    expect(await failure(fetch(url(), { method: 'HEAD', protocols, timeoutMs: 50 }))).toMatchObject({
      reason: 'timeout',
    });
    start((_request, response) => void response.write('never ends'));
    expect(await failure(fetch(url(), { method: 'GET', protocols, timeoutMs: 50 }))).toMatchObject({
      reason: 'timeout',
    });
  });

  test('is ended by its caller, and has its own limit all the same', async () => {
    const ending = new AbortController();
    start(() => ending.abort(new Error('enough')));
    const asked = { method: 'GET', protocols, signal: ending.signal } as const;
    expect(await failure(fetch(url(), { ...asked, timeoutMs: 60_000 }))).toMatchObject({ reason: 'unreachable' });
    start(() => {});
    const { signal } = new AbortController();
    expect(await failure(fetch(url(), { ...asked, signal, timeoutMs: 50 }))).toMatchObject({ reason: 'timeout' });
  });

  test('says why a target can’t be reached, in words', async () => {
    start((request) => request.socket.destroy());
    expect(await failure(fetch(url(), { method: 'HEAD', protocols }))).toMatchObject({ reason: 'unreachable' });
    const closed = createServer();
    const closedPort = await listen(closed);
    await new Promise((resolve) => closed.close(resolve));
    const anywhere = createSafeFetch({
      lookup: async () => ['127.0.0.1'],
      addressPolicy: { isBlockedAddress: () => false, isBlockedName },
    });
    expect(await failure(anywhere(`http://a.example:${closedPort}/`, { method: 'HEAD', protocols }))).toMatchObject({
      reason: 'unreachable',
      message: 'connection refused',
    });
    const plain = await failure(anywhere(`https://a.example:${port}/`, { method: 'HEAD' }));
    expect(plain).toMatchObject({ reason: 'unreachable', message: expect.stringContaining('TLS failed') });
  });

  test('does not believe a certificate that nobody vouches for', async () => {
    const { key, certificate } = makeCertificate(['public.example']);
    const tls = createTlsServer({ key, cert: certificate }, (_request, response) => void response.end());
    const tlsPort = await listen(tls);
    const anywhere = createSafeFetch({
      lookup: async () => ['127.0.0.1'],
      addressPolicy: { isBlockedAddress: () => false, isBlockedName },
    });
    const error = await failure(anywhere(`https://public.example:${tlsPort}/`, { method: 'HEAD' }));
    expect(error).toMatchObject({ reason: 'unreachable', message: expect.stringContaining('TLS failed') });
    tls.closeAllConnections();
    tls.close();
  });
});
