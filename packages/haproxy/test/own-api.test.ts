import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../test/support/free-ports.ts';
import { givenHost } from '../../../test/support/haproxy/given.ts';
import { type Origin, startEchoOrigin } from '../../../test/support/haproxy/origins.ts';
import { type RunningDataPlane, startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';
import { ask } from '../../../test/support/http-client.ts';

let plane: RunningDataPlane;
let origin: Origin;
let directory: string;
const api = createServer((request, response) => {
  request.resume();
  response.end(JSON.stringify(request.headers));
});
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sp-api-'));
  const apiSocket = join(directory, 'api.sock');
  await new Promise<void>((resolve) => api.listen(apiSocket, resolve));
  [plane, origin] = await Promise.all([
    startDataPlane({ apiSocket, trustedProxies: ['127.0.0.1'] }),
    startEchoOrigin('echo'),
  ]);
});
afterAll(async () => {
  await Promise.all([plane.stop(), origin.stop()]);
  api.closeAllConnections();
  api.close();
  await rm(directory, { recursive: true, force: true });
});

test('a host that forwards to the management API reaches it by its socket, and says who asks', async () => {
  // Whoever listens on the API's port while it is down learns nothing: nothing goes there.
  const nobody = await freePort();
  for (const enable_standard_headers of [true, false]) {
    await plane.serve(
      givenHost(
        { id: 70, names: ['api.example.com'], origin: { port: nobody } },
        { enable_standard_headers, own_api: true },
      ),
    );
    for (const method of ['GET', 'POST']) {
      const headers = { 'X-Forwarded-For': '6.6.6.6, 203.0.113.9', 'X-Real-IP': '6.6.6.6' };
      const answer = await ask({ port: plane.httpsPort, host: 'api.example.com', method, headers, tls: true });
      expect(answer.json<IncomingHttpHeaders>()).toMatchObject({
        'x-real-ip': '203.0.113.9',
        'x-forwarded-proto': 'https',
        'x-sallyport-proxied': expect.any(String),
      });
    }
  }
});

test('other hosts do not', async () => {
  await plane.serve(givenHost({ names: ['other.example.com'], origin }, { enable_standard_headers: false }));
  const answer = await ask({ port: plane.httpPort, host: 'other.example.com' });
  expect(answer.json<{ headers: object }>().headers).not.toHaveProperty('x-real-ip');
});
