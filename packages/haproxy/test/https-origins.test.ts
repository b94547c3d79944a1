import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../test/support/free-ports.ts';
import { givenHost } from '../../../test/support/haproxy/given.ts';
import { listen } from '../../../test/support/haproxy/origins.ts';
import { type RunningDataPlane, startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';
import { ask } from '../../../test/support/http-client.ts';
import { createSelfSignedCertificate } from '../src/files/self-signed-certificate.ts';

describe('https origins', () => {
  let plane: RunningDataPlane;
  let directory: string;
  const origins: { port: number; stop(): Promise<void> }[] = [];
  const serverNames: unknown[] = [];

  const startTlsOrigin = async (answer: string, name: string): Promise<{ port: number; pem: string }> => {
    const { certificate, key } = await createSelfSignedCertificate({
      names: [name],
      validFrom: new Date(Date.now() - 1000),
      validDays: 3,
    });
    const server = createTlsServer({ cert: certificate, key }, (request, response) => {
      serverNames.push((request.socket as TLSSocket & { servername?: string | false }).servername);
      response.end(answer);
    });
    const listening = await listen(server);
    origins.push(listening);
    return { port: listening.port, pem: certificate };
  };

  let good: { port: number; pem: string };
  let other: { port: number; pem: string };
  let unknown: { port: number; pem: string };
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sp-authorities-'));
    good = await startTlsOrigin('good', 'good.internal');
    other = await startTlsOrigin('other', 'other.internal');
    unknown = await startTlsOrigin('unknown', 'good.internal');
    const originAuthorities = join(directory, 'authorities.pem');
    await writeFile(originAuthorities, good.pem + other.pem);
    plane = await startDataPlane({ originAuthorities });
  });
  afterAll(async () => {
    await Promise.all(origins.map((origin) => origin.stop()));
    await plane.stop();
    await rm(directory, { recursive: true });
  });

  const get = async (names: string[], port: number, sni: string, verify: boolean): Promise<string | number> => {
    await plane.serve(givenHost({ names, origin: { scheme: 'https', port, sni, verify } }));
    const answer = await ask({ port: plane.httpPort, host: names[0] ?? '' });
    return answer.status === 200 ? answer.body : answer.status;
  };

  test('get the server name; without verification any certificate will do', async () => {
    expect(await get(['a.example.com'], unknown.port, 'whatever.internal', false)).toBe('unknown');
    expect(serverNames.at(-1)).toBe('whatever.internal');
    expect(await get(['b.example.com'], unknown.port, '', false)).toBe('unknown');
    expect(serverNames.at(-1)).toBeFalsy();
  });

  test('with verification, authority and name must be right', async () => {
    expect(await get(['c.example.com'], good.port, 'good.internal', true)).toBe('good');
    expect(await get(['d.example.com'], other.port, 'good.internal', true)).toBe(503);
    expect(await get(['e.example.com'], unknown.port, 'good.internal', true)).toBe(503);
    // A session that was verified for one name is no proof for another one.
    expect(await get(['f.example.com'], good.port, 'other.internal', true)).toBe(503);
    expect(await get(['g.example.com'], other.port, 'other.internal', true)).toBe('other');
  });

  test('an origin whose TLS fails is told from one that nobody serves, on the page and in the log', async () => {
    const tell = async (name: string, port: number, verify: boolean) => {
      await plane.serve(givenHost({ names: [name], origin: { scheme: 'https', port, sni: 'good.internal', verify } }));
      const { status, body, headers } = await ask({
        port: plane.httpPort,
        host: name,
        headers: { accept: 'application/json' },
      });
      const { termination, failure, tls } = await plane.haproxy.logged(String(headers['x-sallyport-reference']));
      expect({ status, termination }).toEqual({ status: 503, termination: 'SC--' });
      return { page: JSON.parse(body).error, failure, tls };
    };
    expect(await tell('unverified.example.com', unknown.port, true)).toEqual({
      page: expect.stringMatching(
        /^The site cannot be reached at the moment\.\sNo secure connection to it could be made\.$/,
      ),
      failure: 'SSL handshake failure',
      tls: expect.stringContaining('certificate verify failed'),
    });
    expect(await tell('plain-http.example.com', plane.httpPort, false)).toMatchObject({
      page: expect.stringContaining('No secure connection'),
      tls: expect.stringContaining('wrong version number'),
    });
    expect(await tell('nobody.example.com', await freePort(), false)).toEqual({
      page: 'The site cannot be reached at the moment.',
      failure: '-',
      tls: '-',
    });
  });

  test('verification without a name to verify is refused, not left out', async () => {
    const host = givenHost({ names: ['h.example.com'], origin: { scheme: 'https', port: good.port, verify: true } });
    const outcomes = await plane.dataPlane.applyHosts([{ type: 'put', host }]);
    expect(outcomes.get(host.id)).toMatchObject({ applied: false, issue: expect.stringContaining('host name') });
    expect((await ask({ port: plane.httpPort, host: 'h.example.com' })).status).toBe(404);
  });
});
