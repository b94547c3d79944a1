import { readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { isStillRunning, type ProcessInfo, readBootId, readProcess } from '@sallyport/deployment/processes';

/** CrowdSec takes 2 s to end in order. */
const POLITE_MS = 8_000;
const KILLED_WITHIN_MS = 3_000;
const POLL_MS = 50;

type Named = Pick<ProcessInfo, 'pid' | 'startTime'>;

const send = ({ pid, startTime }: Named, signal: NodeJS.Signals): void => {
  try {
    if (isStillRunning({ pid, startTime })) process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

const hasEnded = async (named: Named, withinMs: number): Promise<boolean> => {
  const giveUpAt = performance.now() + withinMs;
  while (isStillRunning(named)) {
    if (performance.now() > giveUpAt) return false;
    await delay(POLL_MS);
  }
  return true;
};

/** Ends exactly this process, in order and after `politeMs` by force. Throws when it stays. */
export const endProcess = async (named: Named, politeMs = POLITE_MS): Promise<void> => {
  send(named, 'SIGTERM');
  if (await hasEnded(named, politeMs)) return;
  send(named, 'SIGKILL');
  if (!(await hasEnded(named, KILLED_WITHIN_MS))) throw new Error(`process ${named.pid} can't be ended`);
};

/** Writes down which process is ours, for a server that comes after one that was killed. */
export const notePid = (file: string, { pid, startTime }: Named): void =>
  writeFileSync(file, JSON.stringify({ pid, startTime, boot: readBootId() }), { mode: 0o600 });

const programOf = (pid: number): string | undefined => {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return undefined;
  }
};

const readNote = (file: string): (Named & { boot: string }) | undefined => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Named & { boot: string };
  } catch {
    return undefined;
  }
};

/**
 * Ends what an earlier server left behind, if the note is of this boot and names a process that is this program with this
 * configuration. Returns whether there was one.
 */
export const endLeftBehind = async (file: string, program: string, config: string): Promise<boolean> => {
  const note = readNote(file);
  const found = note?.boot === readBootId() ? readProcess(Number(note.pid)) : undefined;
  const isOurs =
    note !== undefined &&
    found !== undefined &&
    found.startTime === note.startTime &&
    found.argv.includes(config) &&
    programOf(found.pid) === program;
  if (isOurs) await endProcess(found);
  rmSync(file, { force: true });
  return isOurs;
};
