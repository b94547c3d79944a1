import { open, truncate } from 'node:fs/promises';
import { banLines } from '@sallyport/enforcement/entries';
import {
  type Applied,
  attempt,
  both,
  type EnforcementMap,
  holdsMapped,
  notApplied,
} from '@sallyport/enforcement/live-map';
import { everybodyCleared, mapFileChunks, RuntimeRefused } from '@sallyport/haproxy';
import type { BanChange, BanEntry } from './port.ts';

/** Up to this many entries the file is written anew for each change; above, a new ban is a line at its end. */
const SMALL_FILE = 2_000;
/** More changes than this are faster as a replacement of the whole map. */
const MANY_STEPS = 200;
/** How long the file may hold bans that have ended, when it is large. */
const REWRITE_AFTER_MS = 500;

const appendDurably = async (path: string, text: string): Promise<void> => {
  const file = await open(path, 'a', 0o600);
  try {
    await file.appendFile(text);
    await file.datasync();
  } catch (error) {
    // As when the whole file can't be written: it lacks a ban, and must not be taken for whole.
    await truncate(path).catch(() => {});
    throw error;
  } finally {
    await file.close();
  }
};

/** A network whose key is or may become that of another line. */
const isWide = (network: string): boolean => network.endsWith('/0') || holdsMapped(network);

const unlessAbsent = (error: unknown): void => {
  if (!(error instanceof RuntimeRefused && /not found/i.test(error.reply))) throw error;
};

/** Keeps HAProxy's map of banned networks, and the file that it starts from. Calls may not overlap. */
export const createBans = (map: EnforcementMap) => {
  let entries = new Map<string, string>();
  /** Whether a network that takes many keys is or was among them: removing another one's key could then remove its. */
  let hasWide = false;
  /** Whether `entries` are all there are. */
  let isKnown = false;
  /** Whether nobody but administrators is let through. */
  let isHeld = false;
  let rewrite: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const lines = (): [string, string][] => banLines(entries, isHeld);

  const write = (): Promise<void> => {
    clearTimeout(rewrite);
    rewrite = undefined;
    writing = writing.catch(() => {}).then(() => map.write(lines()));
    return writing;
  };

  const writeSoon = (): void => {
    rewrite ??= setTimeout(() => void write().catch(() => {}), REWRITE_AFTER_MS).unref();
  };

  const append = (added: readonly BanEntry[]): Promise<void> => {
    const text = [
      ...mapFileChunks(
        [],
        added.map(({ network, reference }) => [network, reference]),
      ),
    ].join('');
    map.forget();
    writing = writing.catch(() => {}).then(() => appendDurably(map.path, text));
    return writing;
  };

  /** Writes what HAProxy starts from next, then has it take over all of it as it runs. */
  const replace = async (): Promise<Applied> => {
    const kept = await attempt(write);
    return both(kept, await attempt(() => map.replace(lines())));
  };

  const update = async (put: readonly BanEntry[], remove: readonly string[]): Promise<Applied> => {
    const added = put.filter(({ network }) => !entries.has(network));
    const changed = put.filter(({ network, reference }) => (entries.get(network) ?? reference) !== reference);
    const removed = remove.filter((network) => entries.has(network));
    for (const { network, reference } of put) entries.set(network, reference);
    for (const network of removed) entries.delete(network);
    const changes = added.length + changed.length + removed.length;
    hasWide ||= put.some(({ network }) => isWide(network));
    if (changes > MANY_STEPS || hasWide) return replace();
    const kept = await attempt(async () => {
      if (entries.size <= SMALL_FILE) return write();
      if (added.length > 0) await append(added);
      if (removed.length + changed.length > 0) writeSoon();
    });
    const live = await attempt(async () => {
      for (const { network, reference } of added) await map.commands.add(network, reference);
      for (const { network, reference } of changed) await map.commands.set(network, reference);
      for (const network of removed) await map.commands.remove(network);
    });
    return both(kept, live);
  };

  return {
    /** Writes the file again, should it have been changed by somebody else. */
    restore: async (): Promise<void> => (isKnown ? write() : undefined),

    /**
     * Answers 503 to everybody but administrators until `release`: who is in no line of the map meets a list that is not
     * whole (decision 0008).
     */
    async hold(): Promise<Applied> {
      isHeld = true;
      // One that can't be written is emptied, which refuses as well.
      if (isKnown) await write().catch(() => {});
      return attempt(async () => {
        if (isKnown && hasWide) return map.replace(lines());
        // Two commands, however many are banned.
        for (const [network] of everybodyCleared) await map.commands.remove(network).catch(unlessAbsent);
      });
    },

    async release(): Promise<Applied> {
      if (!isKnown) return notApplied('the bans are not known yet');
      isHeld = false;
      return replace();
    },

    async apply(change: BanChange): Promise<Applied> {
      isKnown = true;
      if (change.type === 'update') return update(change.put, change.remove);
      entries = new Map(change.entries.map(({ network, reference }) => [network, reference]));
      hasWide = change.entries.some(({ network }) => isWide(network));
      return replace();
    },

    async stop(): Promise<void> {
      if (rewrite) await write();
      await writing.catch(() => {});
    },
  };
};
