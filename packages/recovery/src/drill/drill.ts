import { DRILL_CHECKS, type EmergencyDrill } from '@sallyport/contract';
import type { Config } from '@sallyport/deployment/config';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Executor, TransactAside } from '@sallyport/store/database/open';
import { drillStore } from '@sallyport/store/emergency-drills';
import { refuse } from '@sallyport/store/errors';
import { areSwitchedOn } from '@sallyport/store/security-switches';
import { checkBackup, type VerifiedBackup } from './backup.ts';
import { checkCopies, type KnownCopies } from './copies.ts';
import { checkDisk } from './disk.ts';
import { checkListener } from './listener.ts';
import { checkManagement } from './management.ts';
import { amiss, type Outcome, reasonOf, well, within } from './outcome.ts';
import { checkProxy, checkSwitches } from './proxy.ts';
import { checkShell } from './shell.ts';

export interface DrillDeps {
  config: Pick<Config, 'dataDir' | 'databaseUrl' | 'emergencyToken' | 'emergencyBind' | 'managementCidrs'>;
  db: Executor;
  transactAside: TransactAside;
  record: RecordChange;
  /** The newest backup whose file was verified; null when there is none. */
  newestVerifiedBackup: () => Promise<VerifiedBackup | null>;
  /** What is known of copies of backups elsewhere. */
  copies: () => Promise<KnownCopies>;
  clock: () => Date;
}

/** Between the beginnings of two drills, on whichever node. */
const PAUSE_MS = 10_000;
const CHECK_WITHIN_MS = 6_000;

const checkToken = (token: string | undefined): Outcome =>
  token === undefined
    ? amiss(
        'Nobody can reset without a shell: set SALLYPORT_EMERGENCY_TOKEN to the output of "openssl rand -hex 32" and start Sallyport again',
      )
    : well('The emergency token is set');

const storeFault = (error: unknown): Outcome =>
  amiss(
    `The store can not be written (${reasonOf(error)}): a reset opens the proxy, and is stored only when this ends`,
  );

/**
 * Proves the ways back in before they are needed. A drill changes nothing but what is known of drills: it writes when it was
 * tried and, when every check succeeded, that the path is proven.
 */
export const createDrill = (deps: DrillDeps) => {
  const { config, db, transactAside, record, newestVerifiedBackup, copies: knownCopies, clock } = deps;
  const { dataDir, emergencyToken, emergencyBind, managementCidrs } = config;
  let isRunning = false;
  /** Should the store not be there to know: when this process began its last one, milliseconds since the epoch. */
  let begunAt = Number.NEGATIVE_INFINITY;

  const tooSoon = () =>
    refuse.tooMany(`A drill was made less than ${PAUSE_MS / 1000} seconds ago`, {
      headers: { 'retry-after': String(PAUSE_MS / 1000) },
    });

  /** Writes to the store for good: one that is full takes what is rolled back. Throws a `Refusal` of 429. */
  const tryStore = async (): Promise<Outcome> => {
    const now = clock().getTime();
    let isFirst = true;
    const outcome = await within(CHECK_WITHIN_MS, async () => {
      isFirst = await drillStore(db).begin(new Date(now).toISOString(), new Date(now - PAUSE_MS).toISOString());
      return well('The store takes what is written');
    });
    if (!isFirst) throw tooSoon();
    begunAt = now;
    return outcome.ok ? outcome : storeFault(outcome.message);
  };

  const look = async (store: Outcome): Promise<Record<(typeof DRILL_CHECKS)[number], Outcome>> => {
    const soon = (check: () => Promise<Outcome>) => within(CHECK_WITHIN_MS, check);
    const [listener, disk, proxy, switches, backup, copies] = await Promise.all([
      soon(() => checkListener(emergencyBind)),
      soon(() => checkDisk(dataDir)),
      soon(() => checkProxy(dataDir)),
      soon(() => checkSwitches(dataDir, () => areSwitchedOn(db))),
      soon(async () => checkBackup(await newestVerifiedBackup(), clock())),
      soon(async () => checkCopies(await knownCopies(), clock())),
    ]);
    const [shell, management] = [checkShell(dataDir), checkManagement(managementCidrs, emergencyBind)];
    const token = checkToken(emergencyToken);
    return { token, listener, management, store, disk, proxy, switches, shell, backup, copies };
  };

  /** Writes the outcome down. Rejects when the store or the audit trail can't be written. */
  const conclude = (failed: readonly string[], actor: Actor, now: string): Promise<void> =>
    transactAside(async (tx) => {
      const ok = failed.length === 0;
      if (ok) await drillStore(tx).prove(now);
      await record(tx, { action: 'emergency.drill', actor, resource: 'emergency', after: { ok, failed } });
    });

  const provenAt = async (): Promise<string | null> => (await drillStore(db).read())?.proven_at ?? null;

  const drill = async (actor: Actor): Promise<EmergencyDrill> => {
    const outcomes = await look(await tryStore());
    const failed = () => DRILL_CHECKS.filter((name) => !outcomes[name].ok);
    const now = clock().toISOString();
    // What resets and drills are written down in is part of the path.
    await conclude(failed(), actor, now).catch((error: unknown) => {
      outcomes.store = storeFault(error);
    });
    const ok = failed().length === 0;
    return {
      ok,
      checks: DRILL_CHECKS.map((name) => ({ name, ...outcomes[name] })),
      proven_at: ok ? now : await provenAt().catch(() => null),
    };
  };

  return {
    /** Looks at everything. Throws a `Refusal`: 409 while another one is under way, 429 when there was one just now. */
    async run(actor: Actor): Promise<EmergencyDrill> {
      if (isRunning) throw refuse.conflict('A drill is under way');
      const sinceMs = clock().getTime() - begunAt;
      if (sinceMs >= 0 && sinceMs < PAUSE_MS) throw tooSoon();
      isRunning = true;
      try {
        return await drill(actor);
      } finally {
        isRunning = false;
      }
    },

    provenAt,
  };
};
export type Drill = ReturnType<typeof createDrill>;
