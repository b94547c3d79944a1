import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataPlaneFiles } from '@sallyport/haproxy';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeCertificate } from '../../../../../test/support/certificates.ts';
import { givenHost } from '../../../../../test/support/haproxy/given.ts';
import { type Origin, startOrigin } from '../../../../../test/support/haproxy/origins.ts';
import { type RunningDataPlane, startDataPlane } from '../../../../../test/support/haproxy/start-data-plane.ts';
import { ask } from '../../../../../test/support/http-client.ts';
import { createOriginResolver } from './origins/resolver.ts';
import { createPlane, type Plane } from './plane.ts';
import type { CertificateSource, HostRoute, RouteSource } from './source.ts';
import { watchDataPlane } from './watch.ts';

let haproxy: RunningDataPlane;
let origins: Record<'old' | 'new', Origin>;
let stored: Map<number, HostRoute>;
let storedCertificates: CertificateSource[];
/** Awaited between reading all hosts and handing them over. */
let afterRead: () => Promise<void>;
/** In how many parts all hosts are handed over. */
let portions: number;
/** Whether the store can be read. */
let isStoreThere: boolean;
/** What every name of an origin resolves to. */
let resolved: string[];
let plane: Plane;

type Flags = Parameters<typeof givenHost>[1];
const route = (id: number, name: string, { port }: Origin, flags: Flags = {}): HostRoute => ({
  id,
  originHost: '127.0.0.1',
  originPort: port,
  mayReachReserved: false,
  at: (address) => givenHost({ id, names: [name], origin: { address, port } }, flags),
});

const storedCertificate = (id: number, version: string, names: string[]): CertificateSource => {
  const { certificate, key } = makeCertificate(['changed.test']);
  return { id, version, open: () => ({ id, pem: `${certificate}${key}`, names, notAfter: 0 }) };
};

const APPLIED = { applied: true, issue: null };

/** What is told of a host as it is stored. */
const stateOf = (id: number) => {
  const found = stored.get(id);
  if (!found) throw new Error(`no host ${id} is stored`);
  return plane.hostState(found);
};

const namedOrigin = (name: string) => startOrigin(name, (_request, response) => response.end(name));

beforeEach(async () => {
  haproxy = await startDataPlane();
  origins = { old: await namedOrigin('old'), new: await namedOrigin('new') };
  stored = new Map();
  storedCertificates = [];
  afterRead = async () => {};
  portions = 1;
  isStoreThere = true;
  resolved = [];
  const source: RouteSource = {
    hostsById: async (ids) => {
      if (!isStoreThere) throw new Error('the store is away');
      return ids.map((id) => stored.get(id)).filter((found) => found !== undefined);
    },
    async *allHosts() {
      const all = [...stored.values()];
      const size = Math.ceil(all.length / portions);
      for (let from = size; from < all.length; from += size) yield all.slice(from - size, from);
      await afterRead();
      yield all.slice((portions - 1) * size);
    },
    certificatesById: async (ids) => storedCertificates.filter(({ id }) => ids.includes(id)),
    allCertificates: async () => storedCertificates,
    revision: async () => 1,
  };
  const resolver = createOriginResolver({
    store: { all: async () => new Map(), save: async () => {} },
    lookup: async () => resolved,
    clock: () => new Date(),
    timeoutMs: 60_000,
  });
  plane = createPlane({
    driver: haproxy.dataPlane,
    source,
    resolver,
    reservedOrigin: () => undefined,
    isOwnApi: () => false,
    log: pino({ level: 'silent' }),
  });
});
afterEach(async () => {
  await Promise.all([origins.old.stop(), origins.new.stop()]);
  await haproxy.stop();
});

const answers = async (host: string) => {
  const { status, body } = await ask({ port: haproxy.httpPort, host });
  return status === 200 ? body : status;
};

test('a change that is answered while everything is compared is not undone by what was read before', async () => {
  stored.set(1, route(1, 'changed.test', origins.old)).set(2, route(2, 'deleted.test', origins.old));
  await plane.reconcile();
  const hasRead = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  afterRead = () => {
    hasRead.resolve();
    return goOn.promise;
  };
  storedCertificates = [storedCertificate(1, 'ordered', ['changed.test'])];
  const reconciled = plane.reconcile();
  await hasRead.promise;

  const refused = { ...storedCertificate(2, 'refused', []), open: () => ({ id: 2, pem: '', names: [], notAfter: 0 }) };
  storedCertificates = [storedCertificate(1, 'renewed', ['changed.test']), refused];
  await plane.syncCertificates([1, 2]);
  stored.set(1, route(1, 'changed.test', origins.new)).set(3, route(3, 'created.test', origins.new));
  stored.delete(2);
  await plane.syncHosts([1, 2, 3]);
  const wanted = ['new', 404, 'new'];
  const seen = () => Promise.all(['changed.test', 'deleted.test', 'created.test'].map(answers));
  expect(await seen()).toEqual(wanted);

  goOn.resolve();
  await reconciled;
  expect(await seen()).toEqual(wanted);
  expect(stateOf(3)).toEqual({ applied: true, issue: null });
  expect(plane.certificateState(1, 'renewed')).toEqual(APPLIED);
  expect(plane.certificateState(2, 'refused')).toMatchObject({ applied: false, refused: true });
});

test('a certificate whose key nobody can open says so, and keeps no other from being served', async () => {
  const lost = () => {
    throw new Error('its key is lost');
  };
  storedCertificates = [{ id: 1, version: 'kept', open: lost }, storedCertificate(2, 'there', ['changed.test'])];
  await plane.reconcile();
  const states = () => [plane.certificateState(1, 'kept'), plane.certificateState(2, 'there')];
  expect(states()).toEqual([{ applied: false, issue: 'its key is lost' }, APPLIED]);
  await plane.syncCertificates([1, 2]);
  expect(states()).toEqual([{ applied: false, issue: 'its key is lost' }, APPLIED]);
});

test('what was left over is made up for with the first word of HAProxy that it is there again', async () => {
  stored.set(1, route(1, 'changed.test', origins.old));
  await plane.reconcile();
  stored.set(1, route(1, 'changed.test', origins.new));
  isStoreThere = false;
  await plane.syncHosts([1]);
  isStoreThere = true;
  expect(plane.isBehind()).toBe(true);
  await plane.confirm();
  expect(plane.isBehind()).toBe(false);
  expect(await answers('changed.test')).toBe('new');
});

test('of a host that is gone, off or without an access list less is asked of the guards than of one that has one', async () => {
  stored.set(1, route(1, 'listed.test', origins.old, { access_list: true }));
  stored.set(2, route(2, 'unlisted.test', origins.old));
  stored.set(3, route(3, 'off.test', origins.old, { enabled: false, access_list: true }));
  expect(await plane.askingLess([1, 2, 3, 4])).toEqual({ closed: [3, 4], unlisted: [2] });
});

test('a host follows the name of its origin, and is written for a HAProxy that starts before anybody steers it', async () => {
  stored.set(1, { ...route(1, 'named.test', origins.old), originHost: 'origin.test' });
  await plane.reconcile();
  expect(stateOf(1)).toMatchObject({ applied: false, issue: expect.stringContaining('origin.test') });
  resolved = ['127.0.0.1'];
  await plane.refreshOrigins();
  expect(await answers('named.test')).toBe('old');

  stored.set(2, route(2, 'rendered.test', origins.old));
  await plane.render();
  const hosts = readFileSync(join(haproxy.directory, dataPlaneFiles.hostsMap), 'utf8');
  expect(hosts).toMatch(/^named\.test .*127\.0\.0\.1/m);
  expect(hosts).toMatch(/^rendered\.test .*127\.0\.0\.1/m);
});

test('reading and comparing many hosts leaves turns to others', async () => {
  for (let id = 1; id <= 20_000; id++) stored.set(id, route(id, `many-${id}.test`, origins.old));
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  let turnsOfReading = 0;
  portions = 20;
  afterRead = async () => {
    turnsOfReading = turns;
  };
  turn();
  await plane.reconcile();
  isOver = true;
  expect(turnsOfReading).toBeGreaterThanOrEqual(portions - 1);
  expect(turns - turnsOfReading).toBeGreaterThanOrEqual(20);
  expect(await answers('many-20000.test')).toBe('old');
});

test('HAProxy that is met while everything is read for the first time is not a reason to read it again', async () => {
  stored.set(1, route(1, 'only.test', origins.old));
  const hasRead = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  let reads = 0;
  afterRead = () => {
    reads++;
    hasRead.resolve();
    return goOn.promise;
  };
  const watch = watchDataPlane({ plane, log: pino({ level: 'silent' }) });
  await hasRead.promise;
  watch.onEvent({ type: 'connected', pid: 1, version: '', driftedEntries: 0, isRepaired: false });
  goOn.resolve();
  await watch.stop();
  expect(reads).toBe(1);
  expect(stateOf(1)).toEqual({ applied: true, issue: null });
  expect(await answers('only.test')).toBe('old');
});

test('HAProxy that is met after a first reading failed is made equal', async () => {
  stored.set(1, route(1, 'only.test', origins.old));
  let reads = 0;
  afterRead = async () => {
    if (++reads === 1) throw new Error('the store is away');
  };
  const watch = watchDataPlane({ plane, log: pino({ level: 'silent' }) });
  watch.onEvent({ type: 'connected', pid: 1, version: '', driftedEntries: 0, isRepaired: false });
  await watch.stop();
  expect(reads).toBe(2);
  expect(await answers('only.test')).toBe('old');
  // That the server leaves says nothing of HAProxy, which goes on.
  watch.onEvent({ type: 'disconnected', reason: 'we have left' });
  expect(stateOf(1)).toEqual(APPLIED);
});

test('after HAProxy was away what was changed meanwhile is live and told so, without all hosts being read again', async () => {
  stored.set(1, route(1, 'changed.test', origins.old)).set(2, route(2, 'kept.test', origins.old));
  await plane.reconcile();
  const watch = watchDataPlane({ plane, log: pino({ level: 'silent' }) });
  try {
    await watch.reconcile();
    stored.set(3, route(3, 'stored.test', origins.old));
    await watch.reconcile();
    expect(stateOf(3)).toEqual(APPLIED);
    let reads = 0;
    afterRead = async () => {
      reads++;
    };
    const gone = haproxy.nextEvent('disconnected').then(watch.onEvent);
    await haproxy.haproxy.stop();
    await gone;
    stored.set(1, route(1, 'changed.test', origins.new));
    await plane.syncHosts([1]);
    expect(stateOf(1)).toMatchObject({ applied: false, issue: expect.stringContaining('HAProxy') });
    const back = haproxy.nextEvent('connected').then(watch.onEvent);
    await haproxy.restartHaproxy();
    await back;
    await expect.poll(() => [stateOf(1), stateOf(2)].map(({ applied }) => applied)).toEqual([true, true]);
    expect(await answers('changed.test')).toBe('new');
    expect(reads).toBe(0);
  } finally {
    await watch.stop();
  }
});

test('a change that the store went away from is told as not applied, and made up for when the store is back', async () => {
  stored.set(1, route(1, 'changed.test', origins.old));
  const watch = watchDataPlane({ plane, log: pino({ level: 'silent' }) });
  try {
    await expect.poll(() => answers('changed.test')).toBe('old');
    stored.set(1, route(1, 'changed.test', origins.new));
    isStoreThere = false;
    await plane.syncHosts([1]);
    expect(stateOf(1)).toEqual({ applied: false, issue: expect.stringContaining('the store is away') });
    isStoreThere = true;
    await expect.poll(() => answers('changed.test')).toBe('new');
    // HAProxy answers so before the plane has heard that it does.
    await expect.poll(() => stateOf(1)).toEqual({ applied: true, issue: null });
  } finally {
    await watch.stop();
  }
});

test('a host that moves is closed as long as anybody wants it to be, whatever else is told of it', async () => {
  stored.set(1, route(1, 'moving.test', origins.old)).set(2, route(2, 'staying.test', origins.old));
  await plane.reconcile();
  stored.set(1, route(1, 'moving.test', origins.new));
  const [open, openToo] = [await plane.closeMoving([1, 2, 3]), await plane.closeMoving([1])];
  const seen = () => Promise.all(['moving.test', 'staying.test'].map(answers));
  expect(await seen()).toEqual([503, 'old']);
  expect(stateOf(1)).toEqual({ applied: false, issue: expect.stringContaining('closed') });

  await plane.reconcile();
  await plane.syncHosts([1, 2]);
  await open();
  await open();
  expect(await seen()).toEqual([503, 'old']);
  await openToo();
  expect(await seen()).toEqual(['new', 'old']);
  expect(stateOf(1)).toEqual({ applied: true, issue: null });
});

test('what was committed a moment ago is not told as live by what was read back of its predecessor', async () => {
  stored.set(1, route(1, 'changed.test', origins.old));
  storedCertificates = [storedCertificate(1, 'stands in', [])];
  await plane.reconcile();
  expect([stateOf(1), plane.certificateState(1, 'stands in')]).toEqual([APPLIED, APPLIED]);

  stored.set(1, route(1, 'changed.test', origins.new));
  storedCertificates = [storedCertificate(1, 'ordered', ['changed.test'])];
  expect([stateOf(1), plane.certificateState(1, 'ordered')]).toMatchObject([{ applied: false }, { applied: false }]);
  await Promise.all([plane.syncHosts([1]), plane.syncCertificates([1])]);
  expect([stateOf(1), plane.certificateState(1, 'ordered')]).toEqual([APPLIED, APPLIED]);

  // A whole comparison tells of what it has read.
  storedCertificates = [storedCertificate(1, 'renewed', ['changed.test'])];
  await plane.reconcile();
  expect(plane.certificateState(1, 'ordered')).toMatchObject({ applied: false });
  expect(plane.certificateState(1, 'renewed')).toEqual(APPLIED);
});
