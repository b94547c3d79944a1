import type { ImportCommit, ImportOutcome } from '@sallyport/contract';
import type { Reading } from '@sallyport/import';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Executor, Transact } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import type { HostIntake } from '../../host-intake.ts';
import { resourceOf } from './active-session.ts';
import { toOutcome } from './outcome.ts';
import type { PlannedHost } from './plan.ts';
import { createBringInReferences, type Failure } from './references.ts';
import { badCommit, type Decision, decide } from './resolve.ts';
import type { createReading } from './session.ts';
import { type ImportStore, isActive } from './store.ts';

export interface CommitDeps {
  db: Executor;
  transact: Transact;
  store: (executor: Executor) => ImportStore;
  reading: Pick<ReturnType<typeof createReading>, 'whenRead' | 'open'>;
  planOf: (known: Reading, executor: Executor) => Promise<PlannedHost[]>;
  intake: HostIntake;
  /** Makes a backup of what there is; resolves with its name. */
  backUp: (reason: string) => Promise<string>;
  record: RecordChange;
  clock: () => Date;
}

const endedMeanwhile = (uuid: string, state = 'ended') =>
  refuse.conflict(`Import session ${uuid} was ${state} meanwhile`, {
    details: 'by another request, which may be of another node; this one changed nothing',
  });

/** Makes the function that commits a session: all of it in one transaction. */
export const createCommit = ({ db, transact, store, reading, planOf, intake, backUp, record, clock }: CommitDeps) => {
  const bringInReferences = createBringInReferences(intake);

  /** What was read of the session that a commit is for. Throws a 400 for one that is not under review. */
  const reviewed = async (uuid: string): Promise<Reading> => {
    const found = await store(db).find(uuid);
    if (!found) throw badCommit('there is no such session');
    const session = await reading.whenRead(found);
    const known = session.state === 'reviewing' ? await reading.open(session.uuid) : undefined;
    if (!known) throw badCommit(`the session is ${session.state}, not reviewing`);
    return known;
  };

  const commitIn = async (
    tx: Executor,
    uuid: string,
    decision: Decision,
    known: Reading,
    backup: string | null,
    actor: Actor,
  ) => {
    const { skipped, failed } = decision;
    const { incoming, left, certificates } = await bringInReferences(tx, decision.incoming, known, actor);
    const hosts = incoming.map(({ host: { input }, replaces }) => ({ input, replaces }));
    const results = await intake.bringIn(tx, hosts, actor);
    const failures: Failure[] = [...failed.map(({ imported, issue }) => ({ imported, message: issue ?? '' })), ...left];
    const ids: number[] = [];
    const names: string[] = [];
    for (const [index, result] of results.entries()) {
      const host = incoming[index]?.host;
      if ('ids' in result) {
        ids.push(...result.ids);
        names.push(...(host?.names ?? []));
      } else if (host) failures.push({ imported: host.imported, message: result.refusal.message });
    }
    const imported = decision.incoming.length + failed.length - failures.length;
    const counts = { imported, skipped, failed: failures.length };
    const after = { state: 'committed', ...counts, backup };
    await record(tx, { action: 'import.commit', actor, resource: resourceOf(uuid), after });
    const ended = { state: 'committed', outcome: toOutcome(counts, names), updated_at: clock().toISOString() };
    if (!(await store(tx).end(uuid, ended))) throw endedMeanwhile(uuid);
    return { hosts: ids, certificates, counts, failures };
  };

  /**
   * Makes what was reviewed so, all of it in one transaction, and answers when it is live. Throws a 400 for another session than the
   * one under review, and for conflicts without a resolution; a 409 when it was committed or ended meanwhile, and when it would lock
   * its caller out. Nothing was changed then.
   */
  return async ({ session_uuid, resolutions = {} }: ImportCommit, actor: Actor): Promise<ImportOutcome> => {
    const uuid = session_uuid.toLowerCase();
    const known = await reviewed(uuid);
    const { incoming } = decide(await planOf(known, db), resolutions);
    const backup = incoming.length > 0 ? await backUp('before-import') : null;
    const { hosts, certificates, counts, failures } = await transact(async (tx) => {
      // First of all: what another commit brought in would be told as conflicts.
      const session = await store(tx).find(uuid);
      if (!session || !isActive(session)) throw endedMeanwhile(uuid, session?.state);
      // Decided anew: the hosts may have changed since.
      const decision = decide(await planOf(known, tx), resolutions);
      return intake.keepingWayIn(tx, actor, () => commitIn(tx, uuid, decision, known, backup, actor));
    });
    await intake.sync({ hosts, certificates });
    return {
      ...counts,
      failures: failures.map(({ imported: { domain, file, line }, message }) => ({ domain, message, file, line })),
      batch: counts.imported > 0 ? (actor.requestId ?? null) : null,
      backup,
    };
  };
};
