import { open } from 'node:fs/promises';
import { type Applied, attempt, both, type EnforcementMap, holdsMapped, mapKeys } from './enforcement-map.ts';

export interface BanEntry {
  /** Canonical address or CIDR range; unique among all entries. */
  network: string;
  /** What is shown for it in logs: one word. */
  reference: string;
}

export type BanChange =
  | { type: 'replace'; entries: readonly BanEntry[] }
  | { type: 'update'; put: readonly BanEntry[]; remove: readonly string[] };

/** Up to this many entries the file is written anew for each change; above, a new ban is a line at its end. */
const SMALL_FILE = 2_000;
/** More changes than this are faster as a replacement of the whole map. */
const MANY_STEPS = 200;
/** How long the file may hold bans that have ended, when it is large. */
const REWRITE_AFTER_MS = 500;

const appendDurably = async (path: string, text: string): Promise<void> => {
  const file = await open(path, 'a', 0o600);
  try {
    await file.write(text);
    await file.datasync();
  } finally {
    await file.close();
  }
};

/** Keeps HAProxy's map of banned networks, and the file that it starts from. Calls may not overlap. */
export const createBans = (map: EnforcementMap) => {
  let entries = new Map<string, string>();
  /** Whether a network that takes many keys is or was among them: removing another one's key could then remove its. */
  let hasWide = false;
  let rewrite: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  /** Lines of the map. Two may have one key when networks overlap, which is harmless: both are bans. */
  const lines = (): [string, string][] =>
    [...entries].flatMap(([network, reference]) => mapKeys(network).map((key): [string, string] => [key, reference]));

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
    const text = added.map(({ network, reference }) => `${network} ${reference}\n`).join('');
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
    hasWide ||= put.some(({ network }) => holdsMapped(network));
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
    async apply(change: BanChange): Promise<Applied> {
      if (change.type === 'update') return update(change.put, change.remove);
      entries = new Map(change.entries.map(({ network, reference }) => [network, reference]));
      hasWide = change.entries.some(({ network }) => holdsMapped(network));
      return replace();
    },

    async stop(): Promise<void> {
      if (rewrite) await write();
      await writing.catch(() => {});
    },
  };
};
