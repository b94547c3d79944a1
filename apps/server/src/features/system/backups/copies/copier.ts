import { kindOf } from '@sallyport/backup/shelf/names';
import type { Receipts } from '@sallyport/backup/shelf/receipts';
import type { Shelf } from '@sallyport/backup/shelf/shelf';
import type {
  Backup,
  BackupCopyTest,
  BackupKind,
  NotificationEvent,
  SettingKey,
  ShelvedBackup,
} from '@sallyport/contract';
import type { Logger } from 'pino';
import { repeat } from '../../../../dataplane/repeat.ts';
import type { Place } from '../../../../net/places/place.ts';
import { PASSING } from '../passing.ts';
import { type CopyRules, readCopyRules, reasonToStay, whyNothingIsCopied } from './kept-here.ts';
import { openPlace } from './open-place.ts';
import { tryPlace } from './try-place.ts';

export interface CopierDeps {
  shelf: Pick<Shelf, 'names' | 'find' | 'findAll' | 'pathOf'>;
  receipts: Receipts;
  read: (key: SettingKey) => Promise<string>;
  /** Told to the live log and to whoever gets notifications. */
  tell: (event: NotificationEvent) => void;
  /** Called when one could not be copied. */
  failed: () => void;
  clock: () => Date;
  log: Logger;
}

const LOOK_MS = 20_000;
/** Before a copy that failed is tried again: twice as long each time. */
const SHORTEST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Of a backup that stays here, and of one that could not be copied. */
type Trouble = 'stays' | 'fails';

/** What became of a backup's copy. */
export type CopyState = Pick<Backup, 'copied_at' | 'copy_problem' | 'copy_retry_at'>;

/** Copies backups of this node to where `backup.copy_url` says, oldest first, in the background. */
export const createCopier = ({ shelf, receipts, read, tell, failed, clock, log }: CopierDeps) => {
  const ending = new AbortController();
  /** What went wrong with each, and how often, since the start or a change of settings. */
  const problems = new Map<string, { problem: string; times: number }>();
  let failuresInARow = 0;
  let tryAt = 0;
  const toldAt = new Map<Trouble, number>();
  let lastNotice = '';

  const tellFailure = (trouble: Trouble, name: string, problem: string, retryAt: string | null): void => {
    failed();
    log.error({ backup: name, problem, retry_at: retryAt }, 'the backup could not be copied');
    const now = clock();
    if (now.getTime() - (toldAt.get(trouble) ?? Number.NEGATIVE_INFINITY) < DAY_MS) return;
    toldAt.set(trouble, now.getTime());
    const next = retryAt === null ? '' : `; it is tried again at ${retryAt}`;
    tell({
      event_type: 'backup_failed',
      severity: 'error',
      timestamp: now.toISOString(),
      message: `The backup ${name} could not be copied: ${problem}${next}`,
      details: { last_made_at: null, retry_at: retryAt },
    });
  };

  /** By name what needs no copy by the rules that it was found out with: it is there, or stays here. */
  let settled = { rules: '', names: new Set<string>() };

  const unsettled = async (rules: CopyRules): Promise<string[]> => {
    const names = await shelf.names();
    const text = JSON.stringify(rules);
    const known = settled.rules === text ? settled.names : new Set<string>();
    settled = { rules: text, names: new Set(names.filter((name) => known.has(name))) };
    return names.filter((name) => !settled.names.has(name));
  };

  const isThere = async (name: string, to: string): Promise<boolean> => {
    const receipt = await receipts.read(name);
    return receipt?.to === to && receipt.copied_at !== null;
  };

  /** Oldest first, but what failed comes after what didn't: one that can't be copied must not hold up the others. */
  const waiting = async (rules: CopyRules): Promise<ShelvedBackup[]> => {
    const asked: string[] = [];
    for (const name of await unsettled(rules)) {
      if (await isThere(name, rules.to)) settled.names.add(name);
      else asked.push(name);
    }
    const left: ShelvedBackup[] = [];
    for (const backup of (await shelf.findAll(asked)).reverse()) {
      const reason = reasonToStay(backup, rules);
      if (reason === '') {
        left.push(backup);
        continue;
      }
      settled.names.add(backup.name);
      // Somebody relies on these.
      if (backup.kind === 'scheduled' && !problems.has(backup.name)) {
        problems.set(backup.name, { problem: reason, times: 0 });
        tellFailure('stays', backup.name, reason, null);
      }
    }
    const timesOf = ({ name }: ShelvedBackup) => problems.get(name)?.times ?? 0;
    return left.sort((a, b) => timesOf(a) - timesOf(b));
  };

  /**
   * As many of a kind are kept there as here, and whatever is here. Removes only what has a receipt: what was put there from
   * here, and halves of what is gone meanwhile.
   */
  const retain = async (place: Place, to: string): Promise<void> => {
    const keep = Number(await read('backup.keep'));
    const here = new Set(await shelf.names());
    const isPassing = (name: string) => PASSING.includes(kindOf(name) as BackupKind);
    const kept: Record<string, number> = {};
    for await (const { name, copied_at } of receipts.of(to, (name) => isPassing(name) || !here.has(name))) {
      const kind = kindOf(name) ?? '';
      kept[kind] = (kept[kind] ?? 0) + (copied_at === null ? 0 : 1);
      const isSurplus = copied_at === null || (isPassing(name) && (kept[kind] ?? 0) > keep);
      if (!isSurplus || here.has(name)) continue;
      await place.remove(name);
      await receipts.remove(name);
    }
  };

  const copy = async (place: Place, to: string, backup: ShelvedBackup): Promise<void> => {
    const { name, size, sha256 } = backup;
    await receipts.write({ name, to, copied_at: null });
    await place.put(name, { path: shelf.pathOf(name), size, sha256 });
    await receipts.write({ name, to, copied_at: clock().toISOString() });
    problems.delete(name);
    failuresInARow = 0;
    toldAt.delete('fails');
    settled.names.add(name);
    log.info({ backup: name, to }, 'the backup was copied');
  };

  const warnOf = (notice: string): void => {
    if (notice !== '' && notice !== lastNotice)
      log.warn({ notice }, 'backups that are made by themselves are not copied');
    lastNotice = notice;
  };

  const look = async (): Promise<void> => {
    const rules = await readCopyRules(read);
    const { to } = rules;
    warnOf(whyNothingIsCopied(rules));
    if (to === '' || clock().getTime() < tryAt) return;
    const backups = await waiting(rules);
    if (backups.length === 0) return;
    let place: Place | undefined;
    let current = backups[0] as ShelvedBackup;
    let isAnyCopied = false;
    try {
      place = await openPlace(to, read, ending.signal);
      for (current of backups) {
        // It may have had to go while others were copied.
        if (!(await shelf.find(current.name))) continue;
        await copy(place, to, current);
        isAnyCopied = true;
      }
    } catch (error) {
      if (ending.signal.aborted) return;
      const { name } = current;
      const problem = (error as Error).message;
      problems.set(name, { problem, times: (problems.get(name)?.times ?? 0) + 1 });
      tryAt = clock().getTime() + Math.min(SHORTEST_PAUSE_MS * 2 ** failuresInARow, LONGEST_PAUSE_MS);
      failuresInARow += 1;
      tellFailure('fails', name, problem, new Date(tryAt).toISOString());
    } finally {
      if (place && isAnyCopied && !ending.signal.aborted) {
        await retain(place, to).catch((err: unknown) => log.warn({ err }, 'old copies could not be removed'));
      }
      await place?.close();
    }
  };

  let looking: Promise<void> = Promise.resolve();
  let isLookDue = false;
  /** Looks once more after who looks now, and never rejects. */
  const lookAgain = (): Promise<void> => {
    if (isLookDue || ending.signal.aborted) return looking;
    isLookDue = true;
    looking = looking.then(async () => {
      isLookDue = false;
      await look().catch((err: unknown) => log.error({ err }, 'copies of backups could not be looked at'));
    });
    return looking;
  };

  return {
    /** Reads the settings once, to tell what became of the copies of any number of backups. */
    async look(): Promise<(backup: ShelvedBackup) => Promise<CopyState>> {
      const rules = await readCopyRules(read);
      const { to } = rules;
      const retryAt = tryAt > clock().getTime() ? new Date(tryAt).toISOString() : null;
      return async (backup) => {
        const receipt = await receipts.read(backup.name);
        const copied_at = receipt?.to === to ? receipt.copied_at : null;
        if (to === '' || copied_at !== null) return { copied_at, copy_problem: '', copy_retry_at: null };
        const reason = reasonToStay(backup, rules);
        if (reason !== '') return { copied_at, copy_problem: reason, copy_retry_at: null };
        return { copied_at, copy_problem: problems.get(backup.name)?.problem ?? '', copy_retry_at: retryAt };
      };
    },

    /** To be told when a backup was made; not waited for. */
    made: (): void => void lookAgain(),

    /** To be told when a setting of backups changed: then it may go well at once. Not waited for. */
    changed(): void {
      problems.clear();
      tryAt = 0;
      failuresInARow = 0;
      void lookAgain();
    },

    /** Writes, reads and removes a small file there; says why it could not. */
    async test(): Promise<BackupCopyTest> {
      const rules = await readCopyRules(read);
      const { to } = rules;
      const notice = whyNothingIsCopied(rules);
      if (to === '') return { copied: false, error: 'backup.copy_url is not set', notice };
      try {
        const place = await openPlace(to, read, ending.signal);
        await tryPlace(place).finally(place.close);
        return { copied: true, error: '', notice };
      } catch (error) {
        return { copied: false, error: (error as Error).message, notice };
      }
    },

    /** Looks now and then until stopped; what is under way then is begun anew by the next start. */
    start(): { stop(): Promise<void> } {
      void lookAgain();
      const repeating = repeat('copy backups', LOOK_MS, lookAgain, log);
      return {
        async stop() {
          ending.abort();
          await repeating.stop();
          await looking;
        },
      };
    },
  };
};
export type Copier = ReturnType<typeof createCopier>;
