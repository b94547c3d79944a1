import type {
  ImportCommit,
  ImportError,
  ImportOfFiles,
  ImportOutcome,
  ImportPreview,
  ImportSession,
  ImportSessionReport,
  ImportStatus,
  NewImportOfFiles,
} from '@sallyport/contract';
import type { Reading } from '@sallyport/import';
import { type Actor, systemActor } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { anyVersion } from '@sallyport/store/object-version';
import { type ActiveSessionDeps, createActiveSession } from './active-session.ts';
import { type CommitDeps, createCommit } from './commit.ts';
import { countsOf } from './outcome.ts';
import { type PlannedHost, planHosts } from './plan.ts';
import { toPreview, toSession, warningOf } from './preview.ts';
import { createReading, type ReadingDeps, stateOf } from './session.ts';
import { isActive, type StoredSession } from './store.ts';
import { refuseStaticFiles, toFile, toFiles } from './uploaded.ts';

export type ImportDeps = ReadingDeps & ActiveSessionDeps & Omit<CommitDeps, 'reading' | 'planOf'>;

const HOUR_MS = 3_600_000;
/** What was uploaded and is not looked at for so long is forgotten. */
const IDLE_MS = 24 * HOUR_MS;
/** So long it is known what became of a session. */
const KEPT_MS = 7 * 24 * HOUR_MS;

const noSession = (details?: string) =>
  refuse.notFound('No active import session', details === undefined ? {} : { details });

export const createImports = (deps: ImportDeps) => {
  const { db, transactAside, store, read, intake, clock } = deps;
  const reading = createReading(deps);
  const active = createActiveSession(deps);

  const planOf = (known: Reading, executor: Executor): Promise<PlannedHost[]> =>
    planHosts(known, {
      wouldBe: intake.wouldBe,
      isJudged: intake.isJudged,
      certificateIssue: intake.certificateIssue,
      ownersByName: (names) => intake.ownersByName(executor, names),
    });

  const previewOf = async (session: StoredSession): Promise<ImportPreview> => {
    const known = await reading.open(session.uuid);
    // It ended in this very moment.
    if (!known) throw noSession();
    return toPreview(session, known, await planOf(known, db));
  };

  const commit = createCommit({ ...deps, reading, planOf });

  return {
    /** What is under way. */
    async status(): Promise<ImportStatus> {
      const session = await store(db).active();
      return session ? { has_pending: true, session: toSession(session) } : { has_pending: false };
    },

    /** Takes a file; it is read in the background. Throws a 409 while somebody else's session is active. */
    async upload(given: NewImportOfFiles['files'][number], actor: Actor): Promise<ImportSession> {
      const files = [toFile(given, 'content')];
      const sealed = { what: 'files', text: JSON.stringify(files) } as const;
      const session = await transactAside((tx) =>
        active.beginIn(tx, files, { state: 'parsing', source: null, sealed }, actor),
      );
      void reading.begin(session.uuid);
      return toSession(session);
    },

    /**
     * Takes files that import each other, the main one first, and answers when they are read. Throws a 400 for a name that is given twice,
     * and for directives that serve files; a 409 like `upload`.
     */
    async uploadMany({ files: given }: NewImportOfFiles, actor: Actor): Promise<ImportOfFiles> {
      const files = toFiles(given);
      const outcome = await read(files);
      refuseStaticFiles(outcome.staticFiles);
      const sealed = { what: 'reading', text: outcome.text } as const;
      const begun = await transactAside((tx) =>
        active.beginIn(tx, files, { state: stateOf(outcome), source: outcome.source, sealed }, actor),
      );
      const { session, ...preview } = await previewOf(begun);
      return { session_uuid: session.uuid, ...preview, warning: warningOf(preview) };
    },

    /** What the active session would come to, once it is read. Throws a 404 when there is none to review. */
    async preview(): Promise<ImportPreview> {
      const found = await store(db).active();
      if (!found) throw noSession();
      const session = await reading.whenRead(found);
      if (session.state === 'reviewing') return previewOf(session);
      const why = session.state === 'parsing' ? 'it is still being read; ask again' : `it is ${session.state}`;
      throw noSession(`session ${session.uuid}: ${why}`);
    },

    /** What became of a session. Throws a 404 for an unknown one. */
    async get(uuid: string): Promise<ImportSessionReport> {
      const session = await store(db).find(uuid.toLowerCase());
      if (!session) throw refuse.notFound('Import session not found');
      const errors: ImportError[] =
        session.state === 'failed' ? ((await reading.open(session.uuid))?.errors ?? []) : [];
      return { ...toSession(session), errors, outcome: countsOf(session.outcome) };
    },

    /** See `createCommit`. */
    commit: (request: ImportCommit, actor: Actor): Promise<ImportOutcome> => commit(request, actor),

    /** Ends the active session. Throws a 404 for any other. */
    async cancel(uuid: string, actor: Actor, checkVersion = anyVersion): Promise<void> {
      await transactAside(async (tx) => {
        const session = await store(tx).find(uuid.toLowerCase());
        if (!session || !isActive(session)) throw noSession();
        checkVersion({ ...toSession(session), errors: [], outcome: null });
        await active.cancelIn(tx, session.uuid, actor, {});
      });
    },

    /** Reads what a process that ended had not. */
    takeUp: reading.takeUp,
    /** Resolves when nothing is being read. */
    idle: reading.idle,

    /** Ends sessions that nobody looks at any more, and forgets those that ended long ago. Returns how many. */
    async prune(): Promise<number> {
      const now = clock().getTime();
      const idle = await store(db).idleSince(new Date(now - IDLE_MS).toISOString());
      for (const { uuid } of idle) {
        await transactAside((tx) => active.cancelIn(tx, uuid, systemActor('import retention'), { idle: true }));
      }
      return idle.length + (await store(db).removeEnded(new Date(now - KEPT_MS).toISOString()));
    },
  };
};
export type Imports = ReturnType<typeof createImports>;
