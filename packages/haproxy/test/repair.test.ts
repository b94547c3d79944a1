import { afterEach, beforeEach, expect, test } from 'vitest';
import { givenHost } from '../../../test/support/haproxy/given.ts';
import { type Echo, type Origin, startEchoOrigin } from '../../../test/support/haproxy/origins.ts';
import { type RunningDataPlane, startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';
import { ask } from '../../../test/support/http-client.ts';
import { createRoutePlane } from '../src/driver/route-plane.ts';
import { createDataPlane, type DesiredHost, dataPlaneFiles } from '../src/index.ts';
import { createAdminSocket } from '../src/runtime/admin-socket.ts';
import { createMapCommands, type MapCommands } from '../src/runtime/maps.ts';

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
  await (await routes.prepare([kept, changed, created]))([]);
  expect(await routes.repair((task) => task())).toBeGreaterThan(0);
  expect(seen.length).toBeGreaterThan(1);
  expect(seen).toEqual(seen.map(() => ['one', 'two', 'two', '404']));
  expect(await routes.repair((task) => task())).toBe(0);
});

test('a HAProxy that started from older files serves what is intended as soon as it is repaired at all', async () => {
  const [a, b] = [host('a.test', one), host('b.test', one)];
  await haproxy.dataPlane.reconcile({ hosts: [a, b], certificates: [] });
  const seen: string[][] = [];
  const routes = createWatchedRoutes(async () => {
    seen.push(await Promise.all(['a.test', 'b.test', 'c.test'].map(whoAnswers)));
  });
  // The intended base is the one HAProxy lacks, and its overlay rules it already.
  await (await routes.prepare([a, host('b.test', two)]))([]);
  await routes.plan([
    { type: 'put', host: { ...a, origin: { ...a.origin, port: two.port } } },
    { type: 'put', host: host('c.test', two) },
  ]);
  await routes.repair((task) => task());
  expect(seen.length).toBeGreaterThan(1);
  expect(seen).toEqual(seen.map(() => ['two', 'two', 'two']));
});

test('changes do not wait for everything to be compared and read back, and none is undone by it', async () => {
  const many = Array.from({ length: 5_000 }, (_, index) => host(`many-${index}.test`, one));
  const [changed, deleted] = [host('changed.test', one), host('deleted.test', one)];
  const stored = [...many, changed, deleted];
  await haproxy.dataPlane.reconcile({ hosts: stored, certificates: [] });
  // Another server beside the HAProxy that serves: what HAProxy holds it does not know yet.
  const connected = Promise.withResolvers<void>();
  const next = createDataPlane({
    directory: haproxy.directory,
    adminSocket: haproxy.settings.adminSocket,
    onEvent: ({ type }) => type === 'connected' && connected.resolve(),
  });
  try {
    await connected.promise;
    const order: string[] = [];
    const put = (one: DesiredHost) => ({ type: 'put', host: one }) as const;
    const toTwo = ({ ...all }: DesiredHost) => ({ ...all, origin: { ...all.origin, port: two.port } });
    const created = host('created.test', two);
    const change = async () => {
      const changes = [put(toTwo(changed)), { type: 'remove', id: deleted.id } as const, put(created)];
      const outcomes = await next.applyHosts(changes);
      order.push('changed');
      expect([...outcomes.values()]).toEqual(changes.map(() => ({ applied: true })));
      expect(await seen()).toEqual(wanted);
      // As it was again: the base may have it already, but that is not known yet.
      await next.applyHosts([put(created), put(toTwo(changed))]);
      expect(await seen()).toEqual(wanted);
    };
    const seen = () => Promise.all(['changed.test', 'deleted.test', 'created.test', 'many-7.test'].map(whoAnswers));
    const wanted = ['two', '404', 'two', 'one'];
    for (const round of ['at start', 'later']) {
      let changing: Promise<void> | undefined;
      const onIntended = () => {
        changing = change();
      };
      await next.reconcile({ hosts: stored, certificates: [] }, { onIntended });
      order.push('reconciled');
      await changing;
      expect(await seen(), round).toEqual(wanted);
      // Back to what is stored, for the next round.
      await next.reconcile({ hosts: stored, certificates: [] });
      expect(await seen()).toEqual(['one', 'one', '404', 'one']);
    }
    expect(order).toEqual(['changed', 'reconciled', 'changed', 'reconciled']);

    // One that comes while everything is compared, before it is what is intended.
    const reconciling = next.reconcile(
      { hosts: stored, certificates: [] },
      { latest: async () => ({ hosts: [put(toTwo(changed))], certificates: [] }) },
    );
    await next.applyHosts([put(toTwo(changed))]);
    await reconciling;
    expect(await whoAnswers('changed.test')).toBe('two');
    expect((await next.reconcile({ hosts: [...many, toTwo(changed), deleted], certificates: [] })).changedNames).toBe(
      0,
    );
  } finally {
    await next.stop();
  }
});
