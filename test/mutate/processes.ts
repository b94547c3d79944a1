import { readdirSync, readFileSync } from 'node:fs';

/** A process as /proc tells of it. */
export interface ProcessUse {
  readonly parent: number;
  /** Its processor time and that of its children that have ended, in milliseconds. */
  readonly processorMs: number;
}

/** All processes that we see, by number. */
export const readProcesses = (): ReadonlyMap<number, ProcessUse> => {
  const processes = new Map<number, ProcessUse>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0);
      processes.set(Number(entry), { parent: Number(fields[1]), processorMs: ticks * 10 });
    } catch {
      // It has ended meanwhile.
    }
  }
  return processes;
};

/** Whether a process was started by another one, or by one that this one started. */
export const descendsFrom = (processes: ReadonlyMap<number, ProcessUse>, pid: number, ancestor: number): boolean => {
  for (let current = processes.get(pid)?.parent; current !== undefined; current = processes.get(current)?.parent) {
    if (current === ancestor) return true;
  }
  return false;
};
