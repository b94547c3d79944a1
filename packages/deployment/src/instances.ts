import { readlinkSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Config, ConfigError, parseConfig } from './config.ts';
import { readEnvironment as mergeEnvironment } from './config-sources.ts';
import { listProcesses, type ProcessInfo, readEnvironment } from './processes.ts';

/** A Sallyport that runs on this machine, with the settings that it was started with, wherever those came from. */
export interface Instance {
  pid: number;
  config: Config;
}

/** The supervisor has all settings; a server that outlived its supervisor has them, too. */
const PROGRAMS = ['/apps/supervisor/src/main.ts', '/apps/server/src/main.ts'];

/** Where the arguments of a program of ours begin in a command line; undefined for any other process. */
const argumentsOf = ({ argv }: ProcessInfo, program: string): readonly string[] | undefined => {
  const at = argv.findIndex((argument) => argument.endsWith(program));
  // Behind Node and its options: not an editor that has the file open.
  return at >= 1 && argv.slice(1, at).every((option) => option.startsWith('-')) ? argv.slice(at + 1) : undefined;
};

const readInstance = (process: ProcessInfo, program: string): Instance | undefined => {
  const argv = argumentsOf(process, program);
  const env = argv && readEnvironment(process.pid);
  if (!env) return undefined;
  try {
    const cwd = readlinkSync(`/proc/${process.pid}/cwd`);
    const settings = mergeEnvironment(argv, Object.fromEntries(env), cwd);
    return { pid: process.pid, config: parseConfig(settings, cwd, { isRunning: true }) };
  } catch (error) {
    // It has ended meanwhile, or is another version that takes other values.
    if (error instanceof ConfigError || (error as NodeJS.ErrnoException).code !== undefined) return undefined;
    throw error;
  }
};

/** Where a directory really is; as it was given, when it isn't there. */
const realPath = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
};

/** Whether both paths lead to one directory. */
export const isSameDirectory = (one: string, other: string): boolean => realPath(one) === realPath(other);

/** Every Sallyport that runs on this machine and whose settings we may read: our own user's, or all for root. */
export const findInstances = (): Instance[] => {
  const processes = listProcesses();
  const found: Instance[] = [];
  for (const program of PROGRAMS) {
    for (const process of processes) {
      const instance = readInstance(process, program);
      if (!instance || found.some(({ config }) => isSameDirectory(config.dataDir, instance.config.dataDir))) continue;
      found.push(instance);
    }
  }
  return found;
};
