import { open } from 'node:fs/promises';
import { type Applied, attempt, type EnforcementMap } from './enforcement-map.ts';

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
  let rewrite: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const write = (): Promise<void> => {
    clearTimeout(rewrite);
    rewrite = undefined;
    writing = writing.catch(() => {}).then(() => map.write([...entries]));
    return writing;
  };

  const writeSoon = (): void => {
    rewrite ??= setTimeout(() => void write().catch(() => {}), REWRITE_AFTER_MS).unref();
  };

  /** HAProxy takes the last of two lines for one network as a second entry, which is harmless: both are bans. */
  const append = (added: readonly BanEntry[]): Promise<void> => {
    const lines = added.map(({ network, reference }) => `${network} ${reference}\n`).join('');
    writing = writing.catch(() => {}).then(() => appendDurably(map.path, lines));
    return writing;
  };

  const update = async (put: readonly BanEntry[], remove: readonly string[]): Promise<Applied> => {
    const added = put.filter(({ network }) => !entries.has(network));
    const changed = put.filter(({ network, reference }) => (entries.get(network) ?? reference) !== reference);
    const removed = remove.filter((network) => entries.has(network));
    for (const { network, reference } of put) entries.set(network, reference);
    for (const network of removed) entries.delete(network);
    if (entries.size <= SMALL_FILE) await write();
    else {
      if (added.length > 0) await append(added);
      if (removed.length + changed.length > 0) writeSoon();
    }
    return attempt(async () => {
      if (added.length + changed.length + removed.length > MANY_STEPS) return map.replace(entries);
      for (const { network, reference } of added) await map.commands.add(network, reference);
      for (const { network, reference } of changed) await map.commands.set(network, reference);
      for (const network of removed) await map.commands.remove(network);
    });
  };

  return {
    async apply(change: BanChange): Promise<Applied> {
      if (change.type === 'update') return update(change.put, change.remove);
      entries = new Map(change.entries.map(({ network, reference }) => [network, reference]));
      await write();
      return attempt(() => map.replace(entries));
    },

    async stop(): Promise<void> {
      if (rewrite) await write();
      await writing.catch(() => {});
    },
  };
};
