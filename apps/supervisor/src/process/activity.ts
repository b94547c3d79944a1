import { readFileSync } from 'node:fs';
import { listChildren } from '@sallyport/deployment/processes';

/** What a process and those it started are doing, as the kernel sees it. */
export interface Activity {
  /** One of them is stopped (SIGSTOP, Ctrl-Z; not by a debugger): it does nothing until somebody lets it go on. */
  isStopped: boolean;
  /** One of them runs, would like to, or waits for a disk: no answer yet is no wonder. */
  isRunnable: boolean;
  /** Processor time they have used, in milliseconds. */
  usedMs: number;
}

// USER_HZ, the unit of /proc/PID/stat, is 100 on every architecture that Node supports.
const msPerTick = 10;

/** State letter and ticks of processor time (proc(5)); undefined when the process is gone. */
const readStat = (pid: number): { state: string; ticks: number } | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return undefined;
  }
};

/** Reads the activity of a process and its children, HAProxy's worker for one. */
export const readActivity = (pid: number): Activity => {
  const stats = [pid, ...listChildren(pid).map((child) => child.pid)].flatMap((each) => readStat(each) ?? []);
  return {
    isStopped: stats.some(({ state }) => state === 'T'),
    isRunnable: stats.some(({ state }) => state === 'R' || state === 'D'),
    usedMs: stats.reduce((sum, { ticks }) => sum + ticks * msPerTick, 0),
  };
};
