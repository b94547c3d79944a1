import { afterEach, beforeEach, expect, test } from 'vitest';
import { givenHost } from '../../../../../test/support/haproxy/given.ts';
import { type Origin, startEchoOrigin } from '../../../../../test/support/haproxy/origins.ts';
import { ask } from '../../../../../test/support/http-client.ts';
import { emptyStore } from '../../testing/start-app.ts';
import { type Enforced, startEnforced } from '../../testing/start-enforced.ts';

let enforced: Enforced;
let stop: () => void;
let ended: Promise<void>;
let origin: Origin;

beforeEach(async () => {
  origin = await startEchoOrigin('any');
  const started = Promise.withResolvers<void>();
  ended = emptyStore('sqlite', async (config) => {
    enforced = await startEnforced(config);
    await enforced.serve(givenHost({ names: ['open.test'], origin: { port: origin.port } }));
    started.resolve();
    await new Promise<void>((resolve) => {
      stop = resolve;
    });
    await enforced.stop();
  });
  await Promise.race([started.promise, ended]);
});
afterEach(async () => {
  stop();
  await ended;
  await origin.stop();
});

const status = async (): Promise<number> => (await ask({ port: enforced.port, host: 'open.test' })).status;

const bans = (...networks: string[]) => ({
  type: 'replace' as const,
  entries: networks.map((network) => ({ network, reference: 'manual/x' })),
});

test('a proxy that is held answers 503 to everybody who is not banned, also when bans come and go meanwhile', async () => {
  const { plane } = enforced;
  await plane.applyDecisions(bans('192.0.2.1'));
  expect(await status()).toBe(200);
  expect(await plane.hold()).toEqual({ applied: true, issue: null });
  expect(await status()).toBe(503);
  expect(await plane.hold()).toEqual({ applied: true, issue: null });
  await plane.applyDecisions({ type: 'update', put: [{ network: '192.0.2.2', reference: 'manual/x' }], remove: [] });
  await plane.applyDecisions(bans('192.0.2.3'));
  expect(await status()).toBe(503);
  await plane.applyWhitelist(['127.0.0.1']);
  expect(await status()).toBe(200);
  await plane.applyWhitelist([]);
  expect(await plane.release()).toEqual({ applied: true, issue: null });
  expect(await status()).toBe(200);
  expect([...(await enforced.bans()).keys()]).toEqual(['192.0.2.3']);
});
