import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { answerAt } from '../../../../test/support/haproxy/answering-socket.ts';
import { givenHost } from '../../../../test/support/haproxy/given.ts';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { dataPlaneFiles } from '../config/layout.ts';
import type { DesiredHost } from '../model/desired.ts';
import { encodeRoute, removedRecord } from '../routes/route-record.ts';
import { createAdminSocket } from '../runtime/admin-socket.ts';
import { createMapCommands } from '../runtime/maps.ts';
import { RuntimeRefused, RuntimeUnavailable } from '../runtime/runtime-errors.ts';
import { createRoutePlane } from './route-plane.ts';

const host = (id: number, ...names: string[]): DesiredHost => givenHost({ id, names, origin: { port: 8_000 + id } });
const put = (one: DesiredHost) => ({ type: 'put', host: one }) as const;
const remove = (id: number) => ({ type: 'remove', id }) as const;
const now = <T>(task: () => Promise<T>): Promise<T> => task();

/** Routes of a HAProxy that answers everything with `answer`, or is not there, and what its files hold. */
const withRoutes = (
  work: (
    routes: ReturnType<typeof createRoutePlane>,
    files: () => Record<'base' | 'overlay', string[]>,
  ) => Promise<void>,
  { answer, overlayLimit = 3 }: { answer?: string; overlayLimit?: number } = {},
): Promise<void> =>
  withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'admin.sock');
    const haproxy = answer === undefined ? undefined : await answerAt(path, () => answer);
    const socket = createAdminSocket({ path });
    const base = createMapCommands(socket, dataPlaneFiles.hostsMap);
    const routes = createRoutePlane({
      directory,
      base,
      bulkBase: base,
      overlay: createMapCommands(socket, dataPlaneFiles.overlayMap),
      overlayLimit,
      payloadBytes: 12_000,
      foldPause: async () => {},
    });
    const linesOf = (file: string): string[] =>
      readFileSync(join(directory, file), 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'));
    // What HAProxy would start from, of a time before.
    mkdirSync(join(directory, 'maps'));
    for (const file of [dataPlaneFiles.hostsMap, dataPlaneFiles.overlayMap])
      writeFileSync(join(directory, file), 'old.test off\n');
    try {
      await work(routes, () => ({
        base: linesOf(dataPlaneFiles.hostsMap),
        overlay: linesOf(dataPlaneFiles.overlayMap),
      }));
    } finally {
      await haproxy?.stop();
    }
  });

const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map((name, index) => host(index + 1, `${name}.test`)) as [
  DesiredHost,
  DesiredHost,
  DesiredHost,
  DesiredHost,
  DesiredHost,
];
const lines = (...hosts: DesiredHost[]): string[] =>
  hosts.flatMap((one) => one.names.map((name) => `${name} ${encodeRoute(one)}`));

describe('the files that HAProxy starts from', () => {
  test('hold a change before HAProxy is told of it', () =>
    withRoutes(async (routes, files) => {
      await (await routes.prepare([a, b]))([]);
      const { steps, refused } = await routes.plan([put(c), remove(2), put(host(9))]);
      expect(steps.map(({ type, name }) => `${type} ${name}`)).toEqual(['add c.test', 'add b.test']);
      expect([...refused.keys()]).toEqual([9]);
      expect(files()).toEqual({ base: lines(a, b), overlay: [...lines(c), `b.test ${removedRecord}`] });
      // As long as nobody knows what HAProxy's base holds, it is told even what is so already.
      expect((await routes.plan([put(c), put(a)])).steps).toHaveLength(2);
    }));

  test('are another base when the first changes came before all hosts were known', () =>
    withRoutes(async (routes, files) => {
      await routes.plan([put(a)]);
      await (await routes.prepare([a]))([]);
      expect(files()).toEqual({ base: lines(a), overlay: [] });
    }));

  test('keep the base for few changes, which are in the overlay, and get another one for many', () =>
    withRoutes(async (routes, files) => {
      await (await routes.prepare([a, b]))([]);
      expect(await (await routes.prepare([a, c]))([])).toMatchObject({
        changedNames: 2,
        steps: [{ name: 'c.test' }, { name: 'b.test' }],
      });
      expect(files()).toEqual({ base: lines(a, b), overlay: [...lines(c), `b.test ${removedRecord}`] });
      expect(routes.overlaySize).toBe(2);
      expect(await (await routes.prepare([a, d, e]))([])).toEqual({ changedNames: 3, steps: undefined });
      expect(files()).toEqual({ base: lines(a, d, e), overlay: [] });
      expect([routes.overlaySize, routes.names]).toEqual([0, 3]);
    }));

  test('take what came while everything was compared', () =>
    withRoutes(async (routes, files) => {
      await (await routes.prepare([a, b, c]))([]);
      const moved = { ...a, origin: { ...a.origin, port: 9_999 } };
      const intend = await routes.prepare([a, b, c]);
      await routes.plan([put(moved), remove(2)]);
      // Of `b` nobody says anything any more: it is as in what was read.
      await intend([put(moved)]);
      expect(files()).toEqual({ base: lines(a, b, c), overlay: lines(moved, b) });
      expect(routes.hosts.get(1)).toBe(moved);
      expect(routes.hosts.get(2)).toBe(b);
    }));

  test('are folded while HAProxy is away, which is told', () =>
    withRoutes(async (routes, files) => {
      await (await routes.prepare([a, b]))([]);
      await routes.plan([put(c), remove(1)]);
      for (const isVerified of [false, true])
        await expect(routes.fold(now, { isVerified })).rejects.toThrow(RuntimeUnavailable);
      expect(files()).toEqual({ base: lines(b, c), overlay: [] });
    }));
});

test('a fold that HAProxy refuses can be begun again, and forgets no change', () =>
  withRoutes(
    async (routes, files) => {
      await (await routes.prepare([a]))([]);
      await routes.plan([put(b)]);
      for (let times = 0; times < 2; times++)
        await expect(routes.fold(now, { isVerified: false })).rejects.toThrow(RuntimeRefused);
      expect(files()).toEqual({ base: lines(a, b), overlay: lines(b) });
      expect(routes.overlaySize).toBe(1);
    },
    { answer: 'Unknown map identifier.\n' },
  ));

test('more changes than the overlay may hold are to be folded', () =>
  withRoutes(async (routes) => {
    await (await routes.prepare([a]))([]);
    await routes.plan([put(b), put(c), put(d)]);
    expect(routes.needsFold).toBe(false);
    await routes.plan([put(e)]);
    expect(routes.needsFold).toBe(true);
  }));

const many = host(1, ...Array.from({ length: 20_000 }, (_, index) => `n${index}.test`));

test.each([
  ['are the same', [many]],
  ['are gone', []],
])('others have their turn while many names are compared, which %s', (_what, next) =>
  withRoutes(
    async (routes) => {
      await (await routes.prepare([many]))([]);
      let turns = 0;
      let isOver = false;
      const count = (): void => {
        turns++;
        if (!isOver) setImmediate(count);
      };
      setImmediate(count);
      // Nothing is written, which would give them turns as well.
      await routes.prepare(next);
      isOver = true;
      expect(turns).toBeGreaterThanOrEqual(2);
    },
    { overlayLimit: 100_000 },
  ),
);
