import type { Actor } from '@sallyport/store/actor';
import type { Executor, Transact } from '@sallyport/store/database/open';
import { inPortions } from '@sallyport/store/database/portions';
import { withSavepoint } from '@sallyport/store/database/savepoint';
import { Refusal, refuse } from '@sallyport/store/errors';
import { confirmationStore } from '@sallyport/store/history/confirmations';
import { closedChange, openChange } from '@sallyport/store/history/record';
import type { Change } from '@sallyport/store/history/state';
import type { HistoryStore, StoredChange } from '@sallyport/store/history/store';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { HostIntake } from '../host-intake.ts';
import { type Reverter, type Reverters, settleEach, type Touched } from '../reverter.ts';
import { checkUnchanged, type TellSince, undoingOf } from './fits.ts';
import { runsOf } from './runs.ts';

export interface RevertDeps {
  db: Executor;
  transact: Transact;
  store: (executor: Executor) => HistoryStore;
  vault: Vault;
  reverters: Reverters;
  keepingWayIn: HostIntake['keepingWayIn'];
}

/** Who takes a change back. */
export interface Reverting {
  actor: Actor;
  /** Whether they may do what takes a policy. */
  allows: (policy: Reverter['policy']) => boolean;
  /** The name of somebody, as far as they may know it. */
  showActor: (name: string) => string;
}

/** A change with what takes it back. */
interface Found {
  stored: StoredChange;
  change: Change;
  key: string;
  reverter: Reverter;
}

/** An object that was changed, and who is to settle it. */
export type Touch = readonly [reverter: Reverter, touched: Touched];

/** Lets what follows from changes happen, after their commit; resolves when they are live, or when it is known why not. */
export const settleAll = (touches: readonly Touch[]): Promise<void> => {
  const byReverter = Map.groupBy(touches, ([reverter]) => reverter);
  return settleEach(new Map([...byReverter].map(([reverter, all]) => [reverter, all.map(([, touched]) => touched)])));
};

/** What the object's own feature says of fields that were right once: others are in the way now. */
const notFitting = (error: unknown, { stored }: Found): unknown => {
  if (!(error instanceof Refusal) || ![400, 404, 409].includes(error.status)) return error;
  const details = [`${stored.resource}: ${error.message}`, error.details].filter((text) => text !== undefined);
  return refuse.conflict('The change can not be taken back any more', { details: details.join('; ') });
};

export const createRevert = ({ db, transact, store, vault, reverters, keepingWayIn }: RevertDeps) => {
  const find = (stored: StoredChange, { allows }: Reverting): Found => {
    const { resource } = stored;
    const kind = Object.keys(reverters).find((path) => resource === path || resource.startsWith(`${path}/`)) ?? '';
    const reverter = reverters[kind];
    if (!reverter) throw refuse.conflict(`Changes of ${resource} can not be taken back`);
    if (!allows(reverter.policy)) throw refuse.forbidden('Admin access required');
    const key = resource.slice(kind.length + 1);
    try {
      return { stored, change: openChange(stored, vault), key, reverter };
    } catch {
      throw refuse.conflict(`What was kept of ${resource} is sealed with a key that is not there any more`);
    }
  };

  const since =
    (tx: Executor, { resource, id }: StoredChange, { showActor }: Reverting): TellSince =>
    async (fields) => {
      const later = await store(tx).after(resource, id);
      const culprit = later.find((one) => {
        const { before, after } = closedChange(one);
        return !fields || !before || !after || fields.some((field) => field in after);
      });
      if (!culprit) return `${resource}: not by a change that the history knows`;
      return `${resource}: by ${showActor(culprit.actor)} at ${culprit.created_at} (change ${culprit.id})`;
    };

  /** Takes one back in a transaction. Throws a `Refusal` when it does not fit. */
  const undoIn = async (tx: Executor, one: Found, reverting: Reverting): Promise<Touch> => {
    const { stored, change, key, reverter } = one;
    try {
      await checkUnchanged(change, await reverter.current(tx, key), since(tx, stored, reverting));
      const actor = { ...reverting.actor, reverts: stored.id };
      return [reverter, await reverter.apply(tx, undoingOf(key, change), actor)];
    } catch (error) {
      throw notFitting(error, one);
    }
  };

  /** Takes changes of different objects of one kind back: all at once where their feature can, or else one by one. */
  const undoRun = async (tx: Executor, run: readonly Found[], reverting: Reverting): Promise<Touch[]> => {
    const [first] = run;
    const undone = run.length > 1 && first ? await undoTogether(tx, first.reverter, run, reverting) : undefined;
    if (undone) return undone;
    const touched: Touch[] = [];
    for (const one of run) touched.push(await undoIn(tx, one, reverting));
    return touched;
  };

  const undoTogether = async (
    tx: Executor,
    reverter: Reverter,
    run: readonly Found[],
    reverting: Reverting,
  ): Promise<Touch[] | undefined> => {
    const { many } = reverter;
    if (!many) return undefined;
    const current = await many.current(
      tx,
      run.map(({ key }) => key),
    );
    for await (const portion of inPortions(run)) {
      for (const one of portion) {
        const { stored, change, key } = one;
        await checkUnchanged(change, current.get(key), since(tx, stored, reverting)).catch((error) => {
          throw notFitting(error, one);
        });
      }
    }
    const undone = await many.apply(
      tx,
      run.map(({ stored, change, key }) => ({
        undoing: undoingOf(key, change),
        actor: { ...reverting.actor, reverts: stored.id },
      })),
    );
    if (!undone) return undefined;
    const touched: Touch[] = [];
    for (const one of run) {
      const outcome = undone.get(one.key);
      if (outcome && 'refusal' in outcome) throw notFitting(outcome.refusal, one);
      if (outcome) touched.push([reverter, outcome]);
    }
    return touched;
  };

  /** Takes changes back, newest first, all or none; resolves when what follows is live. `isBatch`: they are all of a request. */
  const undo = async (changes: readonly StoredChange[], reverting: Reverting, isBatch: boolean): Promise<Found[]> => {
    const found = changes.map((stored) => find(stored, reverting));
    for (const one of found) {
      await one.reverter.prepare?.(undoingOf(one.key, one.change)).catch((error) => {
        throw notFitting(error, one);
      });
    }
    for (const [reverter, ones] of Map.groupBy(found, (one) => one.reverter)) {
      await reverter.prepareAll?.(ones.map(({ key, change }) => undoingOf(key, change)));
    }
    const touched: Touch[] = [];
    await transact(async (tx) => {
      await keepingWayIn(tx, reverting.actor, async () => {
        for (const run of runsOf(found)) for (const one of await undoRun(tx, run, reverting)) touched.push(one);
      });
      // What is taken back needs no confirmation any more.
      const [first] = changes;
      if (isBatch && first) await confirmationStore(tx).end(first.batch);
    });
    await settleAll(touched);
    return found;
  };

  /**
   * Takes changes back, newest first, for nobody who could be asked: one that does not fit any more is left, and said to be. What was
   * in force before needs no look-ups again. `settleAll` has to follow.
   */
  const asFarAsItFits = async (tx: Executor, changes: readonly StoredChange[], reverting: Reverting) => {
    const touched: Touch[] = [];
    const reverted: string[] = [];
    const left: string[] = [];
    const leave = (error: unknown): void => {
      if (!(error instanceof Refusal)) throw error;
      left.push(error.details ?? error.message);
    };
    /** Takes a run back at once; false when it has to be looked at one by one. */
    const goesBack = async (run: readonly Found[]): Promise<boolean> => {
      try {
        for (const one of await withSavepoint(tx, () => undoRun(tx, run, reverting))) touched.push(one);
        for (const { stored } of run) reverted.push(stored.resource);
        return true;
      } catch (error) {
        if (run.length === 1) leave(error);
        else if (!(error instanceof Refusal)) throw error;
        return run.length === 1;
      }
    };
    const found = changes.flatMap((stored) => {
      try {
        return find(stored, reverting);
      } catch (error) {
        leave(error);
        return [];
      }
    });
    for (const run of runsOf(found)) {
      if (!(await goesBack(run))) for (const one of run) await goesBack([one]);
    }
    return { touched, reverted, left };
  };

  return {
    asFarAsItFits,

    /** Takes one change back. Returns the object as it is now; undefined when it is gone by that. Throws a 409 with the reason. */
    async one(id: number, reverting: Reverting): Promise<object | undefined> {
      const stored = await store(db).find(id);
      if (!stored) throw refuse.notFound('There is no such change');
      const isBatch = (await store(db).ofBatch(stored.batch)).length === 1;
      const [done] = await undo([stored], reverting, isBatch);
      return done?.reverter.show(done.key);
    },

    /** Takes all back that one request changed, or nothing. Returns what it was. Throws a 409 with the reason. */
    async batch(batch: string, reverting: Reverting): Promise<string[]> {
      const changes = await store(db).ofBatch(batch);
      if (changes.length === 0) throw refuse.notFound('There is no such batch');
      const done = await undo(changes, reverting, true);
      return [...new Set(done.map(({ stored }) => stored.resource))];
    },
  };
};
export type Revert = ReturnType<typeof createRevert>;
export type Undo = Pick<Revert, 'asFarAsItFits'>;
