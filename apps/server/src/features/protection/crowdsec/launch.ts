import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Alone } from '@sallyport/store/database/alone';
import { probeTcp } from '../../../net/tcp-probe.ts';
import type { ConsoleCredentials } from './console/credentials.ts';
import { endLeftBehind, notePid } from './ending.ts';
import { type Instance, prepareInstance, type Rules } from './instance.ts';
import { isUp } from './lapi.ts';
import { type CrowdsecProcess, startProcess } from './process.ts';
import { whyNotInstalled } from './program.ts';

/** Spec: the start is verified by a process check; some faults show only after the local API is up. */
const CHECK_MS = 2_000;
/** Spec, Limits. */
const POLL_MS = 500;
const READY_WITHIN_MS = 60_000;
const PROBE_MS = 1_000;

const STOPPED = 'it was stopped meanwhile';

export interface LaunchDeps {
  instance: Instance;
  place: Alone;
  /** What it is to judge by, and whom it tells: asked for right before it is written. */
  configure: () => Promise<{ rules: Rules; console: ConsoleCredentials | undefined }>;
  /** Whether it is still to start. */
  isWanted: () => boolean;
  /** All that it reads is written, and there is no process yet. */
  onPrepared: () => void;
  /** There is a process, of which is not known yet whether it stays. */
  onStarted: (child: CrowdsecProcess) => void;
}

const refuseElsewhere = async (place: Alone): Promise<void> => {
  const elsewhere = await place.take();
  if (elsewhere !== undefined) throw new Error(`it runs on ${elsewhere}: of several nodes, only one may run it`);
};

const refuseTakenPort = async (port: number): Promise<void> => {
  if ((await probeTcp('127.0.0.1', port, PROBE_MS)) !== undefined) return;
  throw new Error(
    `port ${port} of 127.0.0.1 is used by another program; end that, or set SALLYPORT_CROWDSEC_PORT to a free one`,
  );
};

/** Why the process ended, if it did so right after its start. */
const earlyEnd = async (child: CrowdsecProcess): Promise<string | undefined> => {
  const check = new AbortController();
  const early = await Promise.race([
    child.ended,
    delay(CHECK_MS, undefined, { signal: check.signal }).catch(() => undefined),
  ]);
  check.abort();
  return early;
};

/**
 * Starts CrowdSec once, after what an earlier server left behind has ended; resolves when the process stays, with the key that its
 * decisions are read with. Rejects with why it can't start, in words for the operator.
 */
export const launch = async ({
  instance,
  place,
  configure,
  isWanted,
  onPrepared,
  onStarted,
}: LaunchDeps): Promise<{ child: CrowdsecProcess; key: string }> => {
  const { directory, account, port, program } = instance;
  const noteFile = join(directory, 'process.json');
  const absent = whyNotInstalled(program);
  if (absent !== undefined) throw new Error(absent);
  await refuseElsewhere(place);
  mkdirSync(directory, { recursive: true, mode: 0o750 });
  await endLeftBehind(noteFile, program.daemon, `${account.view}/etc/config.yaml`);
  await refuseTakenPort(port);
  const { rules, console } = await configure();
  const key = await prepareInstance(instance, rules, console);
  if (!isWanted()) throw new Error(STOPPED);
  onPrepared();
  const child = await startProcess(instance);
  onStarted(child);
  try {
    notePid(noteFile, child);
  } catch (error) {
    // Whoever comes later would find its port taken, and not know by whom.
    await child.stop();
    throw error;
  }
  if (!isWanted()) await child.stop();
  const early = await earlyEnd(child);
  if (early !== undefined) throw new Error(early);
  return { child, key };
};

/** Whether the process answers, waited for a minute at most; false when it ends before. */
export const waitUntilReady = async (child: CrowdsecProcess, port: number): Promise<boolean> => {
  const giveUpAt = performance.now() + READY_WITHIN_MS;
  while (child.isRunning()) {
    if (await isUp(port)) return child.isRunning();
    if (performance.now() > giveUpAt) break;
    await delay(POLL_MS);
  }
  return false;
};
