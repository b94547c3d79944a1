import type { Logger } from 'pino';
import { repeat } from '../../../../dataplane/repeat.ts';
import { type Claim, ClaimLost, type RunAttempt } from './attempt.ts';
import type { CheckRenewal } from './check-renewal.ts';
import type { OrderStore, OrderWithSubject } from './store.ts';

export interface WorkerDeps {
  store: OrderStore;
  /** A UUID by which other nodes on the same store know this one. */
  node: string;
  /** No other process works at this store. */
  isAlone: boolean;
  attempt: RunAttempt;
  checkRenewal: CheckRenewal;
  /** Whether it is to be kept at all: not when nobody uses what was had for a host by itself. */
  isWanted: (row: OrderWithSubject) => Promise<boolean>;
  clock: () => Date;
  log: Logger;
}

const LOOK_MS = 5_000;
/** So many orders are under way at once on this node: a thousand that are due go in turn. */
const AT_ONCE = 4;
/** So many authorities are asked at once when they want a certificate renewed: beside the orders, which wait for none of them. */
const CHECKS_AT_ONCE = 4;
/** So long nobody else takes an order of a process that was killed. */
const LEASE_MS = 60_000;
const BEAT_MS = 15_000;
const AHEAD_MS = 24 * 3_600_000;

/** Works at the orders that are due, each taken by one node at a time. */
export const createWorker = (deps: WorkerDeps) => {
  const { store, node, isAlone, attempt, checkRenewal, isWanted, clock, log } = deps;
  const stopping = new AbortController();
  const running = new Map<number, Promise<void>>();
  let claims = 0;

  const times = () => {
    const now = clock().getTime();
    const until = new Date(now + LEASE_MS).toISOString();
    // Whatever a clock that ran ahead has leased is free again once that shows.
    const latest = new Date(now + 2 * LEASE_MS).toISOString();
    // Clocks of nodes differ; what is so far ahead was written by a wrong one, and would wait until that time comes.
    const ahead = new Date(now + AHEAD_MS).toISOString();
    return { now: new Date(now).toISOString(), until, latest, ahead };
  };

  const workAt = async (claim: Claim): Promise<void> => {
    const row = await store.find(claim.id);
    if (!row) return;
    const { now, ahead } = times();
    const isDue = row.next_attempt_at !== null && (row.next_attempt_at <= now || (row.last_attempt_at ?? '') > ahead);
    // Another node was faster.
    if (!isDue) return void (await store.release(row, claim.token, {}));
    if (await isWanted(row)) return attempt(claim);
    await store.release(row, claim.token, { next_attempt_at: null, ari_checked_until: null });
  };

  /** Keeps the claim while it is worked at. */
  const hold = async (id: number, token: string): Promise<void> => {
    const lost = new AbortController();
    const signal = AbortSignal.any([stopping.signal, lost.signal]);
    const beating = repeat(
      'keep an order',
      BEAT_MS,
      async () => {
        if (!(await store.save(id, token, { leased_until: times().until }))) lost.abort(new ClaimLost());
      },
      log,
    );
    try {
      await workAt({ id, token, signal });
    } catch (err) {
      log.error({ err, certificate: id }, 'work at an order ended with a fault; it goes on later');
    } finally {
      await beating.stop();
    }
  };

  const look = async (): Promise<void> => {
    while (!stopping.signal.aborted && running.size < AT_ONCE) {
      const { until, ...moments } = times();
      const { now, latest } = moments;
      const due = (await store.due(moments, AT_ONCE)).filter((id) => !running.has(id));
      const [id] = due;
      if (id === undefined) return;
      claims += 1;
      const token = `${node}/${claims}`;
      if (!(await store.claim(id, token, { now, latest, until }))) continue;
      const work = hold(id, token).finally(() => {
        running.delete(id);
        nudge();
      });
      running.set(id, work);
    }
  };

  const checking = new Map<number, Promise<void>>();
  const lookForChecks = async (): Promise<void> => {
    const room = CHECKS_AT_ONCE - checking.size;
    if (stopping.signal.aborted || room <= 0) return;
    const unchecked = await store.unchecked(times(), CHECKS_AT_ONCE);
    for (const id of unchecked.filter((one) => !checking.has(one)).slice(0, room)) {
      const check = checkRenewal(id, stopping.signal)
        .finally(() => checking.delete(id))
        .then(nudge, (err: unknown) => log.error({ err, certificate: id }, 'when to renew could not be looked at'));
      checking.set(id, check);
    }
  };

  let looking: Promise<void> = Promise.resolve();
  const lookAgain = (): Promise<void> => {
    looking = looking
      .then(look)
      .then(lookForChecks)
      .catch((err: unknown) => log.error({ err }, 'orders could not be looked at'));
    return looking;
  };
  /** To be told that something may be due; not waited for. */
  const nudge = (): void => void lookAgain();

  return {
    nudge,

    /** Looks now and then until stopped. */
    async start(): Promise<{ stop(): Promise<void> }> {
      if (isAlone) await store.releaseAll();
      nudge();
      const repeating = repeat('look for certificates that are due', LOOK_MS, lookAgain, log);
      return {
        async stop() {
          stopping.abort();
          await repeating.stop();
          await looking;
          await Promise.all([...running.values(), ...checking.values()]);
        },
      };
    },
  };
};
