import { readdirSync, readFileSync } from 'node:fs';

/** A living process as /proc tells it (proc(5)); pid and start time together name it for the whole uptime of the machine. */
export interface ProcessInfo {
  pid: number;
  parentPid: number;
  /** Clock ticks after boot. */
  startTime: string;
  argv: readonly string[];
}

const readProc = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The process ended, or is not ours to look at: both mean that nothing is known about it.
    return undefined;
  }
};

const readArgv = (pid: number | string): string[] => (readProc(`/proc/${pid}/cmdline`) ?? '').split('\0').slice(0, -1);

/** Reads one process; undefined when there is none, or only a zombie that nobody has reaped yet. */
export const readProcess = (pid: number): ProcessInfo | undefined => {
  const stat = readProc(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The second field is the program's name in parentheses and may hold spaces and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parentPid] = fields;
  const startTime = fields[19];
  if (state === undefined || state === 'Z' || state === 'X' || startTime === undefined) return undefined;
  return { pid, parentPid: Number(parentPid), startTime, argv: readArgv(pid) };
};

/** The environment a process was started with; undefined when it is gone or belongs to another user. */
export const readEnvironment = (pid: number): ReadonlyMap<string, string> | undefined => {
  const environ = readProc(`/proc/${pid}/environ`);
  if (environ === undefined) return undefined;
  const pairs = environ.split('\0').filter((pair) => pair.includes('='));
  return new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
};

/** Every living process that can be seen; with `isWanted` those with such a command line, for half the work. */
export const listProcesses = (isWanted?: (argv: readonly string[]) => boolean): ProcessInfo[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && (isWanted === undefined || isWanted(readArgv(name))))
    .flatMap((name) => readProcess(Number(name)) ?? []);

const listThreads = (pid: number): string[] => {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
};

/** Living processes whose parent is this one. */
export const listChildren = (pid: number): ProcessInfo[] => {
  const lists = listThreads(pid).map((thread) => readProc(`/proc/${pid}/task/${thread}/children`));
  // A kernel without it (CONFIG_PROC_CHILDREN), or a thread that ended meanwhile: all are looked at.
  if (lists.includes(undefined)) return listProcesses().filter(({ parentPid }) => parentPid === pid);
  return lists.flatMap((list) => list?.match(/\d+/g) ?? []).flatMap((child) => readProcess(Number(child)) ?? []);
};

/** Whether exactly this process, not a later one with its pid, still lives. */
export const isStillRunning = ({ pid, startTime }: Pick<ProcessInfo, 'pid' | 'startTime'>): boolean =>
  readProcess(pid)?.startTime === startTime;

/** Differs after each boot, so that a pid and start time written before it are not believed. */
export const readBootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
