import { open, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { formatNetwork, parseNetwork, withoutMapped } from '@sallyport/access';
import { proxyDirectory } from '@sallyport/deployment/places';
import {
  type AdminSocket,
  createMapCommands,
  mapFileChunks,
  RuntimeUnavailable,
  writeFileAtomically,
} from '@sallyport/haproxy';

/** What became of a change: enforced from now on, or not yet and why (in words for the operator). */
export interface Applied {
  applied: boolean;
  issue: string | null;
}

export const APPLIED: Applied = { applied: true, issue: null };
export const notApplied = (issue: string): Applied => ({ applied: false, issue });

/** Below HAProxy's smallest buffer, with room for the command itself. */
export const PAYLOAD_BYTES = 12_000;

/** Runs commands on HAProxy; what it refuses or that it is away becomes an issue. Anything else is a bug, and rejects. */
export const attempt = async (commands: () => Promise<void>): Promise<Applied> => {
  try {
    await commands();
    return APPLIED;
  } catch (error) {
    if (error instanceof RuntimeUnavailable) return notApplied(`HAProxy is not running: ${error.message}`);
    return notApplied(error instanceof Error ? error.message : String(error));
  }
};

/** What became of both: the file for HAProxy's next start, and HAProxy as it runs. */
export const both = ({ issue: kept }: Applied, { issue: live }: Applied): Applied => {
  const issue = kept ?? live;
  return issue === null ? APPLIED : notApplied(issue);
};

/** Whether HAProxy would find IPv4 addresses in this canonical network though it is written as IPv6. */
export const holdsMapped = (network: string): boolean => {
  if (!network.startsWith('::') || !network.includes('/')) return false;
  const whole = parseNetwork(network);
  // By size, not by number: of `::fffe:0:0/95` a single network is left.
  return withoutMapped(whole).some(({ prefix }) => prefix !== whole.prefix);
};

/** The keys of HAProxy's map that stand for a canonical network. */
export const mapKeys = (network: string): string[] =>
  holdsMapped(network) ? withoutMapped(parseNetwork(network)).map(formatNetwork) : [network];

export interface EnforcementMapOptions {
  dataDir: string;
  socket: AdminSocket;
  /** Relative name, as in haproxy.cfg. */
  file: string;
  /** First line of the file. */
  heading: string;
}

/** So much fits where a file was, on a disk that has no room left. */
const IN_PLACE_BYTES = 4_096;

const isDiskFull = (error: unknown): boolean => {
  const cause = (error as Error | null)?.cause as NodeJS.ErrnoException | undefined;
  return cause?.code === 'ENOSPC' || cause?.code === 'EDQUOT';
};

/** Writes over an emptied file; returns whether it holds the text now. Whoever reads half of it refuses. */
const writeInPlace = async (path: string, text: string): Promise<boolean> => {
  try {
    const file = await open(path, 'r+');
    try {
      await file.appendFile(text);
      await file.sync();
      return true;
    } finally {
      await file.close();
    }
  } catch {
    await truncate(path).catch(() => {});
    return false;
  }
};

const holds = async (path: string, text: string): Promise<boolean> =>
  (await readFile(path, 'utf8').catch(() => undefined)) === text;

/** A map that is small or rarely changed: written, then replaced as a whole. */
export const createEnforcementMap = ({ dataDir, socket, file, heading }: EnforcementMapOptions) => {
  const path = join(proxyDirectory(dataDir), file);
  const commands = createMapCommands(socket, file);
  let intended: string | undefined;

  const restore = async (): Promise<void> => {
    if (intended === undefined || (await holds(path, intended))) return;
    try {
      await writeFileAtomically(path, [intended], { durable: true });
    } catch (error) {
      // What is in it is known to be wrong. That takes no room on a full disk, and HAProxy reads it as "not known".
      await truncate(path).catch(() => {});
      const isShort = intended.length <= IN_PLACE_BYTES;
      if (!(isShort && isDiskFull(error) && (await writeInPlace(path, intended)))) throw error;
    }
  };

  return {
    commands,
    path,
    /**
     * Writes what HAProxy reads at its next start, unless it is there already. When that fails the file is emptied: an
     * empty one refuses, an old one would let through what is refused since. So does an entry that is no line.
     */
    async write(entries: Iterable<readonly [string, string]>): Promise<void> {
      intended = undefined;
      try {
        intended = [...mapFileChunks([heading], entries)].join('');
      } catch (error) {
        await truncate(path).catch(() => {});
        throw error;
      }
      return restore();
    },
    /** The file is changed by other means than `write`. */
    forget(): void {
      intended = undefined;
    },
    /** Writes again what was written last, should it not be there any more. */
    restore,
    /** Puts these entries in force, in HAProxy as it runs. */
    replace: (entries: Iterable<readonly [string, string]>): Promise<void> =>
      commands.replace(entries, { payloadBytes: PAYLOAD_BYTES }),
  };
};
export type EnforcementMap = ReturnType<typeof createEnforcementMap>;
