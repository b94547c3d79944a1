import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRoutePlane } from '../src/driver/route-plane.ts';
import { type DesiredHost, dataPlaneFiles } from '../src/index.ts';
import { createAdminSocket } from '../src/runtime/admin-socket.ts';
import { createMapCommands, type MapCommands } from '../src/runtime/maps.ts';
import { givenHost } from './support/given.ts';
import { ask } from './support/http-client.ts';
import { type Echo, type Origin, startEchoOrigin } from './support/origins.ts';
import { type RunningDataPlane, startDataPlane } from './support/start-data-plane.ts';

let haproxy: RunningDataPlane;
let one: Origin;
let two: Origin;
beforeEach(async () => {
  [haproxy, one, two] = await Promise.all([startDataPlane(), startEchoOrigin('one'), startEchoOrigin('two')]);
});
afterEach(async () => {
  await Promise.all([one.stop(), two.stop()]);
  await haproxy.stop();
});

const whoAnswers = async (host: string): Promise<string> => {
  const answer = await ask({ port: haproxy.httpPort, host });
  return answer.status === 200 ? answer.json<Echo>().origin : String(answer.status);
};

/** A driver's routes that look what clients get after each map that is replaced. */
const createWatchedRoutes = (look: () => Promise<void>) => {
  const socket = createAdminSocket({ path: haproxy.settings.adminSocket });
  const watched = (file: string): MapCommands => {
    const commands = createMapCommands(socket, file);
    return {
      ...commands,
      async replace(entries, options) {
        await commands.replace(entries, options);
        await look();
      },
    };
  };
  return createRoutePlane({
    directory: haproxy.directory,
    overlay: watched(dataPlaneFiles.overlayMap),
    base: watched(dataPlaneFiles.hostsMap),
    bulkBase: watched(dataPlaneFiles.hostsMap),
    overlayLimit: 1_000,
    payloadBytes: 12_000,
    foldPause: async () => {},
  });
};

const host = (name: string, { port }: Origin): DesiredHost => givenHost({ names: [name], origin: { port } });

test('a server that starts anew beside a HAProxy that serves changes nothing for clients, at any moment', async () => {
  const kept = host('kept.test', one);
  const before = { changed: host('changed.test', one), deleted: host('deleted.test', one) };
  await haproxy.dataPlane.reconcile({ hosts: [kept, before.changed, before.deleted], certificates: [] });
  // What HAProxy holds now is in its base; what changes from here on, in its overlay.
  const changed = { ...before.changed, origin: { ...before.changed.origin, port: two.port } };
  const created = host('created.test', two);
  await haproxy.serve(changed, created);
  await haproxy.dataPlane.applyHosts([{ type: 'remove', id: before.deleted.id }]);

  const seen: string[][] = [];
  const look = async () => {
    seen.push(await Promise.all(['kept.test', 'changed.test', 'created.test', 'deleted.test'].map(whoAnswers)));
  };
  const routes = createWatchedRoutes(look);
  await routes.reset([kept, changed, created]);
  expect(await routes.repair()).toBeGreaterThan(0);
  expect(seen.length).toBeGreaterThan(1);
  expect(seen).toEqual(seen.map(() => ['one', 'two', 'two', '404']));
  expect(await routes.repair()).toBe(0);
});

test('a HAProxy that started from older files serves what is intended as soon as it is repaired at all', async () => {
  const [a, b] = [host('a.test', one), host('b.test', one)];
  await haproxy.dataPlane.reconcile({ hosts: [a, b], certificates: [] });
  const seen: string[][] = [];
  const routes = createWatchedRoutes(async () => {
    seen.push(await Promise.all(['a.test', 'b.test', 'c.test'].map(whoAnswers)));
  });
  // The intended base is the one HAProxy lacks, and its overlay rules it already.
  await routes.reset([a, host('b.test', two)]);
  await routes.plan([
    { type: 'put', host: { ...a, origin: { ...a.origin, port: two.port } } },
    { type: 'put', host: host('c.test', two) },
  ]);
  await routes.repair();
  expect(seen.length).toBeGreaterThan(1);
  expect(seen).toEqual(seen.map(() => ['two', 'two', 'two']));
});
