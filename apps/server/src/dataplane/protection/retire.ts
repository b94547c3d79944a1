import { existsSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { unretiredFile } from '@sallyport/deployment/places';
import { dataPlaneFiles, writeFileAtomically } from '@sallyport/haproxy';
import { askMaster } from './master.ts';

/** What was sent before the client could know that the process takes no more is still answered: a slow round trip, and some. */
const GRACE_MS = 500;

/** What a command that has nothing to say answers; without any byte the process was gone, or the master let go of it. */
const DONE = '\n';

/** The processes that a reload has replaced and that serve on, out of the answer to the master's `show proc`. */
const readOld = (answer: string): string[] => {
  if (!/^# workers$/m.test(answer)) throw new Error("HAProxy's master does not tell its processes");
  const [, old = ''] = answer.split(/^# old workers$/m);
  const [section = ''] = old.split(/^#/m);
  return Array.from(section.matchAll(/^(\d+)\s+worker\b/gm), ([, pid = '']) => pid);
};

/**
 * Has the processes that a reload has replaced know no host any more: what runs there goes on, for an hour at most, and what else is sent
 * over its connections is refused. Nobody would tell them of changes, and an HTTP/2 client may send on for as long as one of its
 * requests runs. Rejects when one of them does not take it.
 */
export const retireOldProcesses = async (dataDir: string): Promise<void> => {
  const old = async () => readOld(await askMaster(dataDir, 'show proc'));
  await delay(GRACE_MS);
  for (const pid of await old()) {
    for (const map of [dataPlaneFiles.hostsMap, dataPlaneFiles.overlayMap]) {
      const answer = await askMaster(dataDir, `@!${pid} clear map ${map}`);
      if (answer === DONE || !(await old()).includes(pid)) continue;
      throw new Error(`a HAProxy that was replaced serves on by its old rules: ${answer.trim() || 'no answer'}`);
    }
  }
};

/** Notes, before a reload, that a process is about to be replaced: a server that ends meanwhile finds it at its next start. */
export const noteReplacement = (dataDir: string): Promise<void> =>
  // It says nothing about a machine that lost its power: no process is left there.
  writeFileAtomically(unretiredFile(dataDir), [''], { durable: false });

/** Retires the processes of a noted replacement; without one, none is looked for. Rejects as `retireOldProcesses`. */
export const retireNoted = async (dataDir: string): Promise<void> => {
  if (!existsSync(unretiredFile(dataDir))) return;
  await retireOldProcesses(dataDir);
  rmSync(unretiredFile(dataDir), { force: true });
};
