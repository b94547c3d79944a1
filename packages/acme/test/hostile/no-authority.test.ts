import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { makeCertificate } from '../../../../test/support/certificates.ts';
import { AcmeProtocolError, AcmeUnreachable, createAcmeClient, limits } from '../../src/index.ts';
import { newAccountKey } from '../account-key.ts';
import { failure } from '../failure.ts';
import { DIRECTORY, scriptedCa } from '../scripted-ca.ts';
import { httpsTransport } from '../transport.ts';

describe('a server that is no CA', () => {
  const startServer = async (answer: Parameters<typeof createServer>[1]) => {
    const { certificate: ca, key } = makeCertificate(['localhost', '127.0.0.1']);
    const server: Server = createServer({ cert: ca, key }, answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return {
      origin,
      directory: (requestTimeoutMs = 30_000) =>
        failure(
          createAcmeClient({
            directoryUrl: `${origin}/dir`,
            accountKey: newAccountKey(),
            transport: httpsTransport(ca),
            requestTimeoutMs,
          }).directory(),
        ),
      async stop() {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  };

  test('hangs, never ends, is too large, redirects, and is gone', async () => {
    let asked = 0;
    let mode = 'silent';
    const server = await startServer((_, response) => {
      asked += 1;
      if (mode === 'silent') return;
      if (mode === 'redirect') {
        response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      if (mode === 'endless') response.write('{');
      else response.end('x'.repeat(10_000_000));
    });
    const silent = await server.directory(200);
    expect(silent).toBeInstanceOf(AcmeUnreachable);
    expect((silent as Error).message).toBe(`${server.origin}/dir: no answer within 0.2 seconds`);
    mode = 'endless';
    expect(await server.directory(200)).toBeInstanceOf(AcmeUnreachable);
    mode = 'large';
    const large = await server.directory();
    expect(large).toBeInstanceOf(AcmeProtocolError);
    expect((large as Error).message).toContain(`larger than ${limits.answerBytes} bytes`);
    mode = 'redirect';
    asked = 0;
    const redirect = await server.directory();
    expect(redirect).toBeInstanceOf(AcmeProtocolError);
    expect((redirect as Error).message).toContain('redirect (302) to "http://169.254.169.254/latest/meta-data"');
    expect(asked).toBe(1);
    await server.stop();
    const gone = await server.directory();
    expect(gone).toBeInstanceOf(AcmeUnreachable);
    expect((gone as Error).message).toContain('ECONNREFUSED');
  });

  test.for([
    ['garbage', { body: 'hello\u001b[31m' }, 'not JSON: "hello [31m"'],
    ['a list', { body: '[]' }, 'no object'],
    ['deep nonsense', { body: '['.repeat(200_000) }, 'not JSON'],
    ['HTML', { headers: { 'content-type': 'text/html' }, body: '<html>' }, 'of type "text/html"'],
    ['another API', { body: { status: 'ok' } }, 'no ACME directory: it has no newNonce'],
    ['a page that is missing', { status: 404, body: 'no' }, 'an error (404)'],
    ['an odd status', { status: 101 }, 'the status 101'],
    ['more than the transport should let in', { body: JSON.stringify('ä'.repeat(200_000)) }, 'larger than'],
    ['what is inherited only', { body: '{"__proto__":{"newNonce":"https://ca.example:14000/n"}}' }, 'no newNonce'],
  ] as const)('%s', async ([, answer, problem]) => {
    const error = await failure(
      scriptedCa({ '/dir': { ...answer } })
        .client()
        .directory(),
    );
    expect(error).toBeInstanceOf(AcmeProtocolError);
    expect((error as Error).message).toContain(problem);
    expect((error as Error).message.length).toBeLessThan(300);
  });

  test('a balancer’s error is worth another try, and the next try is made', async () => {
    const ca = scriptedCa({
      '/dir': [{ status: 502, headers: { 'content-type': 'text/html', 'retry-after': '60' } }, { body: DIRECTORY }],
    });
    const clock = () => new Date('2026-11-22T12:00:00Z');
    const client = ca.client({ clock });
    const error = (await failure(client.directory())) as AcmeUnreachable;
    expect(error).toBeInstanceOf(AcmeUnreachable);
    expect(error.retryAfter).toEqual(new Date('2026-11-22T12:01:00Z'));
    expect((await client.directory()).newOrder).toBe(DIRECTORY.newOrder);
    await client.directory();
    expect(ca.asked).toHaveLength(2);
  });

  test('a transport that does not heed its signal holds nobody up', async () => {
    const ending = new AbortController();
    const ca = scriptedCa();
    const asking = failure(ca.client({ signal: ending.signal, transport: () => new Promise(() => {}) }).directory());
    ending.abort(new Error('given up'));
    expect(await asking).toMatchObject({ message: 'given up' });
    const late = ca.client({ transport: () => new Promise(() => {}), requestTimeoutMs: 50 });
    expect(await failure(late.directory())).toBeInstanceOf(AcmeUnreachable);
  });
});
