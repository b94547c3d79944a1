import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { NewProxyHost } from '@sallyport/contract';
import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import { createProxyHostReverter } from '../features/traffic/proxy-hosts/reverter.ts';
import { createProxyHosts } from '../features/traffic/proxy-hosts/service.ts';
import { proxyHostStore } from '../features/traffic/proxy-hosts/store.ts';
import { createHostSurroundings } from '../features/traffic/proxy-hosts/surroundings.ts';
import { createCheckWayIn } from '../features/traffic/proxy-hosts/way-in.ts';
import { withStore } from './with-store.ts';

/** A program of ours. */
export const actor = systemActor('test');
/** Of nothing. */
export const UNKNOWN = '00000000-0000-4000-8000-000000000000';

type Given = Awaited<ReturnType<typeof given>>;

const given = async ({ kysely: db, transact }: Parameters<Parameters<typeof withStore>[0]>[0]) => {
  const [recorded, synced] = [[] as ChangeEntry[], [] as number[][]];
  let minute = 0;
  const clock = () => new Date(Date.UTC(2026, 4, 2, 12, minute));
  // What takes its time has to be waited for.
  const taking = async <T>(turns: number, work: () => T) => {
    for (let turn = 0; turn < turns; turn++) await yieldToOthers();
    work();
  };
  const syncHosts = (ids: readonly number[]) => taking(20, () => synced.push([...ids]));
  const surroundings = createHostSurroundings({
    db,
    modulesInForce: () => ({ guard: true, acl: true, waf: false }),
    refusedUpgradeAt: () => undefined,
    autoCertificates: async () => new Map(),
    clock,
  });
  const hosts = createProxyHosts({
    ...{ db, transact, store: proxyHostStore, clock, surroundings: surroundings.of },
    plane: { syncHosts, hostState: ({ id }) => ({ applied: true, issue: `state of ${id}` }) },
    reservedOrigin(address) {
      if (address === '192.0.2.99') throw new Error('a fault of ours');
      return address === '127.0.0.1' ? 'our own' : undefined;
    },
    checkWayIn: createCheckWayIn({ isOwnApi: (host, port) => host === '127.0.0.1' && port === 8080 }),
    record: (_tx, entry) => taking(3, () => recorded.push(entry)),
    recordMany: (_tx, entries) => taking(3, () => recorded.push(...entries)),
  });
  return {
    ...{ db, transact, hosts, recorded, synced },
    store: proxyHostStore(db),
    create: (domain: string, more: Partial<NewProxyHost> = {}, by = actor) =>
      hosts.create({ domain, forward_host: '192.0.2.1', forward_port: 80, ...more }, by),
    aMinuteLater: () => void minute++,
    reverter: createProxyHostReverter(hosts, { syncHosts }),
    names: async () => {
      const rows = db.selectFrom('proxy_host_names').selectAll().orderBy('name');
      return (await rows.execute()).map(({ name, proxy_host_id }) => [name, proxy_host_id]);
    },
    /** What was recorded, and gone live, since the last look. */
    done: () => ({ recorded: recorded.splice(0), synced: synced.splice(0) }),
  };
};

/** Gives work the service of hosts over a store of its own; what it tells the proxy and writes down is kept to be looked at. */
export const withHosts = (work: (it: Given) => Promise<void>): Promise<void> =>
  withStore(async (database) => work(await given(database)));

/** `done`, or the refusal in a line. */
export const outcome = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    ({ status, message }: { status?: number; message: string }) => `${status} ${message}`,
  );
