import { randomUUID } from 'node:crypto';
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
import type { Reading, SourceFile } from '@sallyport/import';
import { type Actor, actorName, type RecordChange, systemActor } from '@sallyport/store/actor';
import type { Executor, Transact } from '@sallyport/store/database/open';
import { storable } from '@sallyport/store/database/storable';
import { refuse } from '@sallyport/store/errors';
import { ownerOf } from '@sallyport/store/history/confirmations';
import { anyVersion } from '@sallyport/store/object-version';
import { importContext } from '@sallyport/store/secrets/contexts';
import type { HostIntake } from '../../host-intake.ts';
import { countsOf, toOutcome } from './outcome.ts';
import { type PlannedHost, planHosts } from './plan.ts';
import { toPreview, toSession } from './preview.ts';
import { badCommit, type Decision, decide } from './resolve.ts';
import { createReading, type ReadingDeps, stateOf } from './session.ts';
import type { StoredSession } from './store.ts';

export interface ImportDeps extends ReadingDeps {
  transact: Transact;
  intake: HostIntake;
  /** Makes a backup of what there is; resolves with its name. */
  backUp: (reason: string) => Promise<string>;
  record: RecordChange;
}

const HOUR_MS = 3_600_000;
/** What was uploaded and is not looked at for so long is forgotten. */
const IDLE_MS = 24 * HOUR_MS;
/** So long it is known what became of a session. */
const KEPT_MS = 7 * 24 * HOUR_MS;
const MOST_SHOWN = 5;

const resourceOf = (uuid: string): string => `import/sessions/${uuid}`;

const noSession = (details?: string) =>
  refuse.notFound('No active import session', details === undefined ? {} : { details });

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Throws a 400 that names the field when the content is not what its encoding says. */
const toFile = ({ filename, content, encoding }: NewImportOfFiles['files'][number], field: string): SourceFile => {
  if (encoding !== 'base64') return { name: filename, content };
  if (content.length % 4 !== 0 || !BASE64.test(content)) throw refuse.invalid(`${field} must be base64`);
  return { name: filename, content, encoding };
};

const isActive = ({ state }: StoredSession): boolean => state === 'parsing' || state === 'reviewing';

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const warningOf = ({ hosts, warnings }: ImportPreview): string => {
  const count = hosts.reduce((sum, host) => sum + host.warnings.length, warnings.length);
  return count === 0 ? '' : `${counted(count, 'warning')}: not all that the files say can be imported`;
};

/** Throws the 400 of the spec for files that serve files. */
const refuseStaticFiles = (found: Reading['staticFiles']): void => {
  if (found.length === 0) return;
  const places = found.slice(0, MOST_SHOWN).map(({ message, file, line }) => `${message} (${file}:${line})`);
  const more = found.length > MOST_SHOWN ? [`${found.length - MOST_SHOWN} more`] : [];
  throw refuse.invalid('The files use directives that serve static files, which can not be imported', {
    details: [...places, ...more].join('; '),
    warning:
      'Static file serving is not supported: let a server of its own serve the files and proxy to it, or upload the files one by one, where such a site is a warning',
  });
};

export const createImports = (deps: ImportDeps) => {
  const { db, transact, transactAside, store, vault, read, intake, backUp, record, clock } = deps;
  const reading = createReading(deps);

  /** Ends an active session in a transaction; false when it had ended. */
  const endIn = async (tx: Executor, uuid: string, actor: Actor, why: object): Promise<boolean> => {
    const ended = await store(tx).end(uuid, { state: 'cancelled', outcome: null, updated_at: clock().toISOString() });
    if (ended) await record(tx, { action: 'import.cancel', actor, resource: resourceOf(uuid), after: why });
    return ended;
  };

  /** Room for a new session: one's own earlier one ends by it, that of somebody else is in the way. */
  const makeRoom = async (tx: Executor, actor: Actor, replaced_by: string): Promise<void> => {
    await store(tx).forgetFailures();
    const active = await store(tx).active();
    if (!active) return;
    if (active.owner !== ownerOf(actor)) {
      const since = `since ${active.created_at}, ${active.filename} of ${active.actor}`;
      throw refuse.conflict(`Import session ${active.uuid} is active`, {
        details: `${since}: commit it, or end it with DELETE /import/cancel?session_uuid=${active.uuid}`,
      });
    }
    await endIn(tx, active.uuid, actor, { state: 'cancelled', replaced_by });
  };

  const newRow = (files: readonly SourceFile[], actor: Actor) => {
    const now = clock().toISOString();
    return {
      uuid: randomUUID(),
      filename: files[0]?.name ?? '',
      source: null,
      actor: storable(actorName(actor)),
      owner: ownerOf(actor),
      attempts: 0,
      files_sealed: null,
      reading_sealed: null,
      outcome: null,
      created_at: now,
      updated_at: now,
    };
  };

  const recordUpload = (
    tx: Executor,
    { uuid, filename }: StoredSession,
    files: readonly SourceFile[],
    actor: Actor,
  ) => {
    const bytes = files.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
    const after = { filename, files: files.length, bytes };
    return record(tx, { action: 'import.upload', actor, resource: resourceOf(uuid), after });
  };

  const planOf = (known: Reading, executor: Executor): Promise<PlannedHost[]> =>
    planHosts(known, {
      wouldBe: intake.wouldBe,
      isJudged: intake.isJudged,
      ownersByName: (names) => intake.ownersByName(executor, names),
    });

  const previewOf = async (session: StoredSession): Promise<ImportPreview> => {
    const known = await reading.open(session.uuid);
    // It ended in this very moment.
    if (!known) throw noSession();
    return toPreview(session, known, await planOf(known, db));
  };

  /** The session that a commit is for, and what was read of it. Throws a 400. */
  const reviewed = async (uuid: string): Promise<Reading> => {
    const found = await store(db).find(uuid.toLowerCase());
    if (!found) throw badCommit('there is no such session');
    const session = await reading.whenRead(found);
    const known = session.state === 'reviewing' ? await reading.open(session.uuid) : undefined;
    if (!known) throw badCommit(`the session is ${session.state}, not reviewing`);
    return known;
  };

  /** Makes the access lists of hosts that come in. Those whose list can not be made must not come in without it. */
  const bringInGuards = async (
    tx: Executor,
    incoming: Decision['incoming'],
    accessLists: NonNullable<Reading['accessLists']>,
    actor: Actor,
  ) => {
    const wanted = new Set(incoming.map(({ host }) => host.imported.access_list));
    const ids = await intake.bringInLists(
      tx,
      accessLists.filter(({ name }) => wanted.has(name)),
      actor,
    );
    const guarded: Decision['incoming'] = [];
    const unguarded: { imported: PlannedHost['imported']; message: string }[] = [];
    for (const { host, replaces } of incoming) {
      const { access_list: name } = host.imported;
      const id = name === undefined ? undefined : ids.get(name);
      if (name === undefined) guarded.push({ host, replaces });
      else if (typeof id === 'number') {
        guarded.push({ host: { ...host, input: { ...host.input, access_list_id: id } }, replaces });
      } else
        unguarded.push({ imported: host.imported, message: `its access list ${name}: ${id?.message ?? 'is missing'}` });
    }
    return { guarded, unguarded };
  };

  const commitIn = async (
    tx: Executor,
    uuid: string,
    decision: Decision,
    { accessLists = [] }: Reading,
    backup: string | null,
    actor: Actor,
  ) => {
    const { skipped, failed } = decision;
    const { guarded: incoming, unguarded } = await bringInGuards(tx, decision.incoming, accessLists, actor);
    const results = await intake.bringIn(
      tx,
      incoming.map(({ host: { input }, replaces }) => ({ input, replaces })),
      actor,
    );
    const failures = [...failed.map(({ imported, issue }) => ({ imported, message: issue ?? '' })), ...unguarded];
    const ids: number[] = [];
    const names: string[] = [];
    for (const [index, result] of results.entries()) {
      const host = incoming[index]?.host;
      if ('ids' in result) {
        ids.push(...result.ids);
        names.push(...(host?.names ?? []));
      } else if (host) failures.push({ imported: host.imported, message: result.refusal.message });
    }
    const counts = {
      imported: decision.incoming.length + failed.length - failures.length,
      skipped,
      failed: failures.length,
    };
    const after = { state: 'committed', ...counts, backup };
    await record(tx, { action: 'import.commit', actor, resource: resourceOf(uuid), after });
    const ended = { state: 'committed', outcome: toOutcome(counts, names), updated_at: clock().toISOString() };
    if (!(await store(tx).end(uuid, ended))) throw badCommit('the session ended meanwhile');
    return { ids, counts, failures };
  };

  return {
    /** What is under way. */
    async status(): Promise<ImportStatus> {
      const session = await store(db).active();
      return session ? { has_pending: true, session: toSession(session) } : { has_pending: false };
    },

    /** Takes a file; it is read in the background. Throws a 409 while somebody else's session is active. */
    async upload(given: NewImportOfFiles['files'][number], actor: Actor): Promise<ImportSession> {
      const files = [toFile(given, 'content')];
      const session = { ...newRow(files, actor), state: 'parsing' };
      await transactAside(async (tx) => {
        await makeRoom(tx, actor, session.uuid);
        const files_sealed = vault.seal(JSON.stringify(files), importContext(session.uuid, 'files'));
        await store(tx).insert({ ...session, files_sealed });
        await recordUpload(tx, session, files, actor);
      });
      void reading.begin(session.uuid);
      return toSession(session);
    },

    /**
     * Takes files that import each other, the main one first, and answers when they are read. Throws a 400 for a name that is given twice,
     * and for directives that serve files; a 409 like `upload`.
     */
    async uploadMany({ files: given }: NewImportOfFiles, actor: Actor): Promise<ImportOfFiles> {
      const files = given.map((file, index) => toFile(file, `files[${index}].content`));
      const twice = files.findIndex(({ name }, index) => files.findIndex((other) => other.name === name) < index);
      if (twice !== -1) throw refuse.invalid(`files[${twice}].filename is the name of an earlier file`);
      const outcome = await read(files);
      refuseStaticFiles(outcome.staticFiles);
      const session = { ...newRow(files, actor), state: stateOf(outcome), source: outcome.source };
      const { uuid } = session;
      await transactAside(async (tx) => {
        await makeRoom(tx, actor, uuid);
        const reading_sealed = vault.seal(outcome.text, importContext(uuid, 'reading'));
        await store(tx).insert({ ...session, reading_sealed });
        await recordUpload(tx, session, files, actor);
      });
      const { session: _, ...preview } = await previewOf(session);
      return { session_uuid: uuid, ...preview, warning: warningOf({ session: _, ...preview }) };
    },

    /** What the active session would come to, once it is read. Throws a 404 when there is none to review. */
    async preview(): Promise<ImportPreview> {
      const active = await store(db).active();
      if (!active) throw noSession();
      const session = await reading.whenRead(active);
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

    /**
     * Makes what was reviewed so, all of it in one transaction, and answers when it is live. Throws a 400 for another session than the
     * one under review, and for conflicts without a resolution. Nothing was changed then.
     */
    async commit({ session_uuid, resolutions = {} }: ImportCommit, actor: Actor): Promise<ImportOutcome> {
      const uuid = session_uuid.toLowerCase();
      const known = await reviewed(uuid);
      const { incoming } = decide(await planOf(known, db), resolutions);
      const backup = incoming.length > 0 ? await backUp('before-import') : null;
      // Decided anew: the hosts may have changed since.
      const { ids, counts, failures } = await transact(async (tx) =>
        commitIn(tx, uuid, decide(await planOf(known, tx), resolutions), known, backup, actor),
      );
      if (ids.length > 0) await intake.sync(ids);
      return {
        ...counts,
        failures: failures.map(({ imported: { domain, file, line }, message }) => ({ domain, message, file, line })),
        batch: counts.imported > 0 ? (actor.requestId ?? null) : null,
        backup,
      };
    },

    /** Ends the active session. Throws a 404 for any other. */
    async cancel(uuid: string, actor: Actor, checkVersion = anyVersion): Promise<void> {
      await transactAside(async (tx) => {
        const session = await store(tx).find(uuid.toLowerCase());
        if (!session || !isActive(session)) throw noSession();
        checkVersion({ ...toSession(session), errors: [], outcome: null });
        await endIn(tx, session.uuid, actor, { state: 'cancelled' });
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
        await transactAside((tx) =>
          endIn(tx, uuid, systemActor('import retention'), { state: 'cancelled', idle: true }),
        );
      }
      return idle.length + (await store(db).removeEnded(new Date(now - KEPT_MS).toISOString()));
    },
  };
};
export type Imports = ReturnType<typeof createImports>;
