import { createServer, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenHost } from '../../../test/support/haproxy/given.ts';
import { type Echo, listen, type Origin, startEchoOrigin } from '../../../test/support/haproxy/origins.ts';
import { type RunningDataPlane, startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';
import { ask } from '../../../test/support/http-client.ts';
import { writeStaticFiles } from '../src/index.ts';

describe('a host that forwards to our own listener', () => {
  let plane: RunningDataPlane;
  let other: RunningDataPlane;
  let origin: Origin;
  const stops: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    [plane, other, origin] = await Promise.all([startDataPlane(), startDataPlane(), startEchoOrigin('echo')]);
  });
  afterAll(async () => {
    await Promise.all([origin.stop(), ...stops.map((stop) => stop())]);
    await Promise.all([plane.stop(), other.stop()]);
  });

  const json = { Accept: 'application/json' };

  test.each(['GET', 'POST'])('ends after one hop, for a %s, to every listener of ours', async (method) => {
    await plane.serve(
      givenHost({ id: 41, names: ['plain.example.com'], origin: { port: plane.httpPort } }),
      givenHost({ id: 42, names: ['tls.example.com'], origin: { port: plane.httpsPort, scheme: 'https', sni: '' } }),
      givenHost({ id: 43, names: ['h2.example.com'], origin: { port: plane.httpsPort, scheme: 'https', h2: true } }),
      givenHost({ id: 44, names: ['six.example.com'], origin: { port: plane.httpPort, address: '::1' } }),
    );
    const ids = { plain: '41', tls: '42', h2: '43', six: '44' };
    for (const [name, id] of Object.entries(ids)) {
      const answer = await ask({ port: plane.httpPort, host: `${name}.example.com`, method, headers: json });
      expect(answer.status).toBe(508);
      expect(answer.json()).toMatchObject({ error: 'This site forwards to itself.', code: 508 });
      const reference = String(answer.headers['x-sallyport-reference']);
      expect(await plane.haproxy.logged(reference)).toMatchObject({ status: 508, host_id: id, method, uri: '/' });
    }
  });

  test('a deployment behind another one is none, and a circle through both is', async () => {
    await plane.serve(
      givenHost({ id: 1, names: ['chain.example.com'], origin: { port: other.httpPort } }),
      givenHost({ id: 2, names: ['circle.example.com'], origin: { port: other.httpPort } }),
    );
    await other.serve(
      givenHost({ id: 1, names: ['chain.example.com'], origin }),
      givenHost({ id: 2, names: ['circle.example.com'], origin: { port: plane.httpPort } }),
    );
    const answer = await ask({ port: plane.httpPort, host: 'chain.example.com' });
    expect(answer.json<Echo>().headers['x-sallyport-proxied']).toMatch(/^([0-9a-f]{16})\.1, (?!\1)[0-9a-f]{16}\.1$/);
    expect((await ask({ port: plane.httpPort, host: 'circle.example.com' })).status).toBe(508);
  });

  test('a cache between two hosts is none', async () => {
    const cache = await listen(
      createServer((incoming, outgoing) => {
        const headers = { ...incoming.headers, host: 'inner.example.com' };
        request({ port: plane.httpPort, headers }, (answer) => answer.pipe(outgoing)).end();
      }),
    );
    stops.push(cache.stop);
    await plane.serve(
      givenHost({ names: ['outer.example.com'], origin: cache }),
      givenHost({ names: ['inner.example.com'], origin }),
    );
    expect((await ask({ port: plane.httpPort, host: 'outer.example.com' })).json<Echo>().origin).toBe('echo');
  });

  test('the name of the deployment is kept, and nothing else is taken for it', async () => {
    await plane.serve(givenHost({ id: 9, names: ['a.example.com'], origin }));
    const marked = async (headers = {}): Promise<unknown> =>
      (await ask({ port: plane.httpPort, host: 'a.example.com', headers })).json<Echo>().headers['x-sallyport-proxied'];
    const mark = String(await marked());
    expect(await marked({ 'X-Sallyport-Proxied': `${mark}9, 9, ${mark.slice(1)}` })).toContain(mark);
    // As at the next start of the server.
    await writeStaticFiles(plane.directory, plane.settings);
    await plane.haproxy.stop();
    await plane.restartHaproxy();
    expect(await marked()).toBe(mark);
  });
});
