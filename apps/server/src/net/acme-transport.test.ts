import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { limits } from '@sallyport/acme';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate } from '../../../../test/support/certificates.ts';
import { openAcmeTransport } from './acme-transport.ts';

const { certificate, key } = makeCertificate(['ca.example', '127.0.0.1']);

let server: Server;
let port = 0;
let handler: RequestListener = () => {};
let names: unknown[] = [];
let requests: { method?: string | undefined; url?: string | undefined; host?: string | undefined; body: string }[] = [];
beforeAll(async () => {
  server = createServer({ key, cert: certificate }, async (request: IncomingMessage, response) => {
    const { method, url, headers } = request;
    requests.push({ method, url, host: headers.host, body: await text(request) });
    handler(request, response);
  });
  server.on('secureConnection', ({ servername }) => names.push(servername));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const asking = async (
  url: string,
  lookup: (name: string) => Promise<string[]>,
  { caCertificate = certificate as string | null, body = undefined as string | undefined } = {},
) => {
  names = [];
  requests = [];
  const { transport, close } = await openAcmeTransport({ caCertificate, lookup });
  try {
    const { signal } = new AbortController();
    return await transport({
      method: body === undefined ? 'GET' : 'POST',
      url,
      headers: {},
      signal,
      ...(body === undefined ? {} : { body }),
    });
  } finally {
    await close();
  }
};
const at = (host: string) => `https://${host}:${port}/directory`;
const here = async () => ['127.0.0.1'];

test('asks at the address that was looked up, by the name that the certificate is for', async () => {
  handler = (_request, response) => {
    response.setHeader('link', ['<a>;rel="up"', '<b>;rel="index"']);
    response.writeHead(201, { 'Replay-Nonce': 'n' }).end('{"é":1}');
  };
  const answer = await asking(at('ca.example'), here);
  expect(answer).toMatchObject({ status: 201, body: '{"é":1}' });
  expect(answer.headers.get('replay-NONCE')).toBe('n');
  expect(answer.headers.get('Link')).toBe('<a>;rel="up", <b>;rel="index"');
  expect(answer.headers.get('location')).toBeUndefined();
  expect(requests).toEqual([{ method: 'GET', url: '/directory', host: `ca.example:${port}`, body: '' }]);
  expect(names).toEqual(['ca.example']);
  // A literal address is no server name (RFC 6066, section 3).
  expect((await asking(at('127.0.0.1'), here, { body: '{"a":1}' })).status).toBe(201);
  expect(requests).toMatchObject([{ method: 'POST', body: '{"a":1}' }]);
  expect(names).toEqual([false]);
});

test('tries the next address where nobody answers at the first', async () => {
  handler = (_request, response) => void response.end('here');
  expect(await asking(at('ca.example'), async () => ['127.0.0.2', '127.0.0.3', '127.0.0.1'])).toMatchObject({
    status: 200,
    body: 'here',
  });
  // As many as are believed to be worth it, and no more.
  const nowhere = Array.from({ length: 8 }, (_, index) => `127.0.0.${index + 2}`);
  await expect(asking(at('ca.example'), async () => [...nowhere, '127.0.0.1'])).rejects.toThrow('connection refused');
  // One connection for one request: the first address that takes it is enough.
  await asking(at('ca.example'), async () => ['127.0.0.1', '127.0.0.1', '127.0.0.1']);
  expect(names).toHaveLength(1);
});

test.each([
  ['169.254.169.254', here],
  ['[::ffff:169.254.169.254]', here],
  ['[fd00:ec2::254]', here],
  ['metadata.google.internal', here],
  ['ca.example', async () => ['127.0.0.1', '169.254.169.254']],
])('connects to nothing that hands out credentials: %s', async (host, lookup) => {
  await expect(asking(at(host), lookup)).rejects.toMatchObject({
    reason: 'blocked',
    message: expect.stringContaining('is a link-local or metadata address, which is refused'),
  });
  expect(names).toEqual([]);
});

test('says that a name leads nowhere', async () => {
  for (const lookup of [async () => [], () => Promise.reject(new Error('ENOTFOUND'))])
    await expect(asking(at('ca.example'), lookup)).rejects.toMatchObject({
      reason: 'unresolved',
      message: 'ca.example does not resolve',
    });
});

test('believes no certificate of another root, or for another name', async () => {
  handler = (_request, response) => void response.end('here');
  await expect(asking(at('ca.example'), here, { caCertificate: null })).rejects.toThrow(/^TLS failed/);
  const other = makeCertificate(['ca.example']).certificate;
  await expect(asking(at('ca.example'), here, { caCertificate: other })).rejects.toThrow(/^TLS failed/);
  await expect(asking(at('other.example'), here)).rejects.toThrow('TLS failed (ERR_TLS_CERT_ALTNAME_INVALID)');
  expect(requests).toEqual([]);
});

test('follows no redirect, and reads no more than an authority has to say', async () => {
  handler = (_request, response) => void response.writeHead(302, { location: at('127.0.0.1') }).end();
  expect((await asking(at('ca.example'), here)).status).toBe(302);
  expect(requests).toHaveLength(1);
  const most = 'x'.repeat(limits.answerBytes);
  handler = (_request, response) => void response.end(most);
  expect((await asking(at('ca.example'), here)).body).toHaveLength(most.length);
  handler = (_request, response) => void response.end(`${most}y`);
  await expect(asking(at('ca.example'), here)).rejects.toThrow(`larger than ${limits.answerBytes} bytes`);
});

test('is ended from outside, by its own error', async () => {
  const ending = new AbortController();
  handler = () => ending.abort(new Error('enough'));
  const { transport, close } = await openAcmeTransport({ caCertificate: certificate, lookup: here });
  try {
    const asked = transport({ method: 'GET', url: at('ca.example'), headers: {}, signal: ending.signal });
    await expect(asked).rejects.toThrow('enough');
  } finally {
    await close();
  }
});
