import { isDeepStrictEqual } from 'node:util';
import type { Applied, ConfigChange, ConfigDocument } from '@sallyport/contract';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Executor, Transact, TransactAside } from '@sallyport/store/database/open';
import { Refusal, refuse } from '@sallyport/store/errors';
import type { Declared } from '../declared.ts';
import type { HostIntake } from '../host-intake.ts';
import { type Reverter, settleEach, type Touched } from '../reverter.ts';
import { toDocument } from './describe.ts';
import { differenceBetween } from './difference.ts';
import { kindOf, planSteps, type Step } from './plan.ts';
import { readStored, type StoreDeps } from './stored.ts';

export interface AsCodeDeps extends StoreDeps {
  transact: Transact;
  transactAside: TransactAside;
  keepingWayIn: HostIntake['keepingWayIn'];
  /** Makes an automatic backup; resolves with its name. */
  backUp: (reason: string) => Promise<string>;
  record: RecordChange;
}

/** Who applies a document. */
export interface Applying {
  actor: Actor;
  /** Whether they may do what takes a policy. */
  allows: (policy: Reverter['policy']) => boolean;
}

/** Takes a transaction back that did all it had to. */
class Rehearsed extends Error {}

/** A refusal with the path in the document: most begin with the field that they are about. */
const located = (error: unknown, { section, at, undoing }: Step): unknown => {
  if (!(error instanceof Refusal) || error.status >= 500) return error;
  const { status, message, details, cause } = error;
  const isOfObject = undoing.does !== 'remove' && /^[a-z]+(_[a-z]+)*(\[\d+\])?[ .:]/.test(message) && status === 400;
  // A document has the value of a setting in the place of an object.
  const isOfValue = section === 'settings' && message.startsWith('value ');
  const text = isOfValue ? message.replace('value', at) : isOfObject ? `${at}.${message}` : `${at}: ${message}`;
  return new Refusal(status, text, { cause, ...(details === undefined ? {} : { details }) });
};

export const createAsCode = (deps: AsCodeDeps) => {
  const { declared, certificates, transact, transactAside, keepingWayIn, backUp, record } = deps;
  const read = (tx: Executor) => readStored({ declared, certificates }, tx);
  const doerOf = (step: Step) => declared[kindOf(step)] as Declared<object>;

  /** Finds out, and checks, what takes its time, before the transaction. */
  const prepared = async (step: Step): Promise<Step> => {
    const { prepare, complete } = doerOf(step);
    const { undoing } = step;
    try {
      await prepare?.(undoing);
      if (!complete || undoing.does === 'remove') return step;
      if (undoing.does === 'update') {
        return { ...step, undoing: { ...undoing, fields: await complete(undoing.fields) } };
      }
      return { ...step, undoing: { ...undoing, state: await complete(undoing.state) } };
    } catch (error) {
      throw located(error, step);
    }
  };

  /** Makes all steps in a transaction; resolves with what that changed. */
  const makeIn = async (tx: Executor, steps: readonly Step[], actor: Actor) => {
    const before = await read(tx);
    const touched = new Map<Declared<object>, Touched[]>();
    for (const step of steps) {
      const doer = doerOf(step);
      try {
        const one = await doer.apply(tx, step.undoing, actor);
        const others = touched.get(doer);
        if (others) others.push(one);
        else touched.set(doer, [one]);
      } catch (error) {
        throw located(error, step);
      }
    }
    return { touched, changes: differenceBetween(before, await read(tx)) };
  };

  /** What steps would change: they are made, with all checks, and taken back. */
  const rehearse = async (steps: readonly Step[], actor: Actor): Promise<ConfigChange[]> => {
    // Nothing is left that could be confirmed, or answered again.
    const { confirm: _confirm, idempotencyId: _id, ...rehearsing } = actor;
    let changes: ConfigChange[] = [];
    try {
      await transact(async (tx) => {
        ({ changes } = await keepingWayIn(tx, actor, () => makeIn(tx, steps, rehearsing)));
        throw new Rehearsed();
      });
    } catch (error) {
      if (!(error instanceof Rehearsed)) throw error;
    }
    return changes;
  };

  return {
    /** All that is configured; `withSettings`: for whom may read those. */
    export: async (withSettings: boolean): Promise<ConfigDocument> =>
      toDocument(await transactAside(read), withSettings),

    /**
     * Makes everything what a document says, all or nothing; resolves when it is live. Throws a `Refusal` that begins with the path in
     * the document: nothing was changed then.
     */
    async apply(
      document: ConfigDocument,
      { isDry, isPruning }: { isDry: boolean; isPruning: boolean },
      { actor, allows }: Applying,
    ): Promise<Applied> {
      const stored = await transactAside(read);
      const planned = planSteps(document, stored, isPruning);
      for (const step of planned) {
        if (!allows(doerOf(step).policy)) throw refuse.forbidden('Admin access required', { details: step.at });
      }
      const steps: Step[] = [];
      for (const step of planned) steps.push(await prepared(step));
      const changes = steps.length === 0 ? [] : await rehearse(steps, actor);
      if (isDry || changes.length === 0) return { changes, applied: false, batch: null, backup: null };

      const backup = await backUp('before-apply');
      const done = await transact(async (tx) => {
        // Not as JSON, in which all maps are the same.
        if (!isDeepStrictEqual(await read(tx), stored))
          throw refuse.conflict('The configuration has been changed meanwhile');
        const made = await keepingWayIn(tx, actor, () => makeIn(tx, steps, actor));
        const after = { changes: made.changes.length, pruned: isPruning, backup };
        await record(tx, { action: 'config.apply', actor, resource: 'apply', after });
        return made;
      });
      await settleEach(done.touched);
      return { changes: done.changes, applied: true, batch: actor.requestId ?? null, backup };
    },
  };
};
export type AsCode = ReturnType<typeof createAsCode>;
