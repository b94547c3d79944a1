import { type Actor, systemActor } from '@sallyport/store/actor';
import type { Executor, Transact } from '@sallyport/store/database/open';
import { Refusal } from '@sallyport/store/errors';
import type { Logger } from 'pino';
import { repeat } from '../../../../../dataplane/repeat.ts';
import type { Certificates, PlaceholderFields } from '../../../certificates/service.ts';
import type { Accounts } from '../../accounts/service.ts';
import { type NamedProvider, newOrderRow, type OrderDefaults } from '../service.ts';
import type { OrderStore, OrderWithSubject } from '../store.ts';
import { createFailingOrders } from './failing-orders.ts';
import { type AutoPlan, cannotHave, planAuto, type Wanted } from './plan.ts';
import type { AutoStore } from './store.ts';

export interface AutoDeps {
  db: Executor;
  transact: Transact;
  store: (executor: Executor) => AutoStore;
  orders: (executor: Executor) => OrderStore;
  certificates: Pick<Certificates, 'within' | 'makeStandIn'>;
  accounts: Pick<Accounts, 'resolve'>;
  findProviderByName: (executor: Executor, name: string) => Promise<NamedProvider | undefined>;
  defaults: () => Promise<OrderDefaults>;
  syncCertificates: (ids: readonly number[]) => Promise<void>;
  /** To be told that orders are due. */
  nudge: () => void;
  clock: () => Date;
  log: Logger;
}

/** Certificates that one transaction begins: others wait for it meanwhile. */
const A_TURN = 20;
/** What another node, a restore or an expiry changed is seen by then. */
const LOOK_MS = 60_000;
/** A thousand hosts that are made one by one are looked at together. */
const GATHER_MS = 200;
const ACTOR: Actor = systemActor('auto_certificate');

type StandIns = ReadonlyMap<string, PlaceholderFields['standIn']>;

const keyOf = ({ names }: Wanted): string => names.join(',');

const isNothing = ({ create, change, wake }: AutoPlan): boolean => create.length + change.length + wake.length === 0;

/** Has certificates for hosts with `auto_certificate`. It is done beside the change of a host, which does not wait for it. */
export const createAuto = (deps: AutoDeps) => {
  const { db, transact, store, orders, certificates, accounts, nudge, clock, log } = deps;

  const issuesByName = createFailingOrders(store(db));

  const providerOf = async (executor: Executor, { dnsProvider }: OrderDefaults): Promise<NamedProvider | undefined> =>
    dnsProvider === '' ? undefined : deps.findProviderByName(executor, dnsProvider);

  const plan = async (executor: Executor, defaults: OrderDefaults): Promise<AutoPlan> => {
    const hosts = await store(executor).hosts();
    if (hosts.length === 0) return { create: [], change: [], wake: [] };
    return planAuto({
      hosts,
      certificates: await store(executor).certificates(),
      orders: await store(executor).orders(),
      hasDnsProvider: (await providerOf(executor, defaults)) !== undefined,
      now: clock(),
    });
  };

  /** The account that is ordered with; undefined when there is none, which the hosts' warnings tell. */
  const accountOf = (executor: Executor, { account }: OrderDefaults) =>
    accounts.resolve(executor, undefined, account).catch((error: unknown) => {
      if (error instanceof Refusal) return undefined;
      throw error;
    });

  const begin = async (
    tx: Executor,
    { names, issuer, challenge }: Wanted,
    standIn: PlaceholderFields['standIn'],
    defaults: OrderDefaults,
  ): Promise<number | undefined> => {
    const account = issuer === 'acme' ? await accountOf(tx, defaults) : undefined;
    if (issuer === 'acme' && !account) return undefined;
    const provider = issuer === 'acme' && challenge === 'dns-01' ? await providerOf(tx, defaults) : undefined;
    const how =
      issuer === 'acme'
        ? {
            issuer,
            account_id: account?.id ?? null,
            dns_provider_id: provider?.id ?? null,
            challenge,
            key_type: 'p256',
          }
        : { issuer, key_type: 'p256' };
    const placeholder = {
      name: names[0] ?? '',
      standIn,
      provider: issuer === 'acme' ? ('letsencrypt' as const) : ('internal' as const),
    };
    const { id } = await certificates.within.createPlaceholder(tx, placeholder, ACTOR);
    await orders(tx).insert([newOrderRow(id, names, how, { isAuto: true, now: clock().toISOString() })]);
    return id;
  };

  const change = async (
    tx: Executor,
    { certificateId, names, challenge }: AutoPlan['change'][number],
    defaults: OrderDefaults,
  ): Promise<void> => {
    const now = clock().toISOString();
    const provider = challenge === 'dns-01' ? await providerOf(tx, defaults) : undefined;
    const before = await orders(tx).find(certificateId);
    await orders(tx).change(certificateId, {
      names: names.join(','),
      ...(before?.issuer === 'acme' ? { challenge, dns_provider_id: provider?.id ?? null } : {}),
      // What is under way is for other names.
      order_url: null,
      order_key_sealed: null,
      issue: null,
      problem: null,
      failures: 0,
      next_attempt_at: now,
      updated_at: now,
    });
  };

  const wake = async (tx: Executor, id: number): Promise<void> => {
    const order = await orders(tx).find(id);
    const now = clock().toISOString();
    await orders(tx).change(id, { next_attempt_at: order?.renew_after ?? now, updated_at: now });
  };

  /** What stands in for those that the next turn begins. Not in the transaction, which all others wait for. */
  const makeStandIns = async ({ create }: AutoPlan): Promise<StandIns> => {
    const made = new Map<string, PlaceholderFields['standIn']>();
    for (const wanted of create.slice(0, A_TURN)) {
      made.set(keyOf(wanted), await certificates.makeStandIn(wanted.names));
    }
    return made;
  };

  /** Does a part of what is to be done, looked at again with nobody else changing anything; returns what was begun. */
  const turn = (defaults: OrderDefaults, standIns: StandIns): Promise<{ begun: number[]; isDone: boolean }> =>
    transact(async (tx) => {
      const planned = await plan(tx, defaults);
      const begun: number[] = [];
      for (const wanted of planned.create.slice(0, A_TURN)) {
        const standIn = standIns.get(keyOf(wanted));
        // Wanted since a moment ago: who changed the hosts has asked for another look.
        if (standIn === undefined) continue;
        const id = await begin(tx, wanted, standIn, defaults);
        if (id !== undefined) begun.push(id);
      }
      for (const one of planned.change.slice(0, A_TURN)) await change(tx, one, defaults);
      for (const id of planned.wake) await wake(tx, id);
      const isMore = planned.create.length > A_TURN || planned.change.length > A_TURN;
      return { begun, isDone: !isMore || begun.length + planned.change.length === 0 };
    });

  const isPossible = async (planned: AutoPlan, defaults: OrderDefaults): Promise<boolean> =>
    planned.change.length + planned.wake.length > 0 ||
    planned.create.some(({ issuer }) => issuer === 'internal') ||
    (await accountOf(db, defaults)) !== undefined;

  const look = async (): Promise<void> => {
    // Not in the transaction: SQLite has one connection, which that holds.
    const defaults = await deps.defaults();
    for (let isDone = false; !isDone; ) {
      const planned = await plan(db, defaults);
      // A transaction raises the revision: not for nothing.
      if (isNothing(planned) || !(await isPossible(planned, defaults))) return;
      const done = await turn(defaults, await makeStandIns(planned));
      isDone = done.isDone;
      if (done.begun.length > 0) await deps.syncCertificates(done.begun);
      nudge();
    }
  };

  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let isAskedAgain = false;
  const lookOnce = async (): Promise<void> => {
    do {
      isAskedAgain = false;
      await look().catch((err: unknown) => log.error({ err }, 'certificates for hosts could not be looked after'));
    } while (isAskedAgain);
    looking = undefined;
  };
  /** Looks, or once more after who looks now; never rejects. */
  const lookAgain = (): Promise<void> => {
    isAskedAgain = looking !== undefined;
    looking ??= lookOnce();
    return looking;
  };

  return {
    /** To be told that hosts, accounts or settings changed; not waited for. */
    changed(): void {
      timer ??= setTimeout(() => {
        timer = undefined;
        void lookAgain();
      }, GATHER_MS).unref();
    },

    /** Whether it is worth renewing: what was had for a host is not when no host has its names any more. */
    async isWanted(row: OrderWithSubject): Promise<boolean> {
      if (row.is_auto === 0) return true;
      const names = [...new Set([...row.names.split(','), ...row.domains.split(',')])];
      return (await store(db).isChosen(row.certificate_id)) || (await store(db).isUsed(names));
    },

    /** Why hosts with `auto_certificate` have no certificate by themselves, by host. */
    async warningsOf(hosts: readonly { id: number; names: readonly string[] }[]): Promise<Map<number, string[]>> {
      if (hosts.length === 0) return new Map();
      const defaults = await deps.defaults();
      const hasDnsProvider = (await providerOf(db, defaults)) !== undefined;
      const issues = await issuesByName();
      const noAccount = await accounts.resolve(db, undefined, defaults.account, 'auto_certificate').then(
        () => undefined,
        (error: unknown) => {
          if (error instanceof Refusal) return error.message;
          throw error;
        },
      );
      return new Map(
        hosts.map(({ id, names }) => {
          const told = new Set<string>();
          for (const name of names) {
            const problem = cannotHave(name, hasDnsProvider);
            if (problem !== undefined) told.add(`no certificate by itself: ${problem}`);
            const failed = issues.get(name);
            if (failed) {
              const next = failed.nextAttemptAt === null ? '' : ` (tried again at ${failed.nextAttemptAt})`;
              told.add(`its certificate could not be had yet: ${failed.issue}${next}`);
            }
          }
          if (noAccount !== undefined) told.add(noAccount);
          return [id, [...told]];
        }),
      );
    },

    /** Looks now and then until stopped. */
    start(): { stop(): Promise<void> } {
      void lookAgain();
      const repeating = repeat('look after certificates of hosts', LOOK_MS, lookAgain, log);
      return {
        async stop() {
          clearTimeout(timer);
          await repeating.stop();
          await looking;
        },
      };
    },
  };
};
