import type { Config } from '@sallyport/deployment/config';
import { findInstances, type Instance, isSameDirectory } from '@sallyport/deployment/instances';
import type { Command } from 'commander';
import { CommandFailure } from './failure.ts';
import { loadConfig } from './load-config.ts';

/**
 * The instance that is meant: the one on the data directory that was named (or ./data); without a name the only one that
 * runs. Undefined when there is none. Throws a `CommandFailure` when several run and none is named.
 */
export const chooseInstance = (
  instances: readonly Instance[],
  { named, dataDir }: { named: boolean; dataDir: string },
): Instance | undefined => {
  const onIt = instances.find(({ config }) => isSameDirectory(config.dataDir, dataDir));
  if (onIt || named || instances.length === 0) return onIt;
  if (instances.length === 1) return instances[0];
  const directories = instances.map(({ config }) => config.dataDir).sort();
  throw new CommandFailure(`several run here; name one with --data-dir: ${directories.join(', ')}`);
};

/** The settings of the running instance that is meant, else those that a start from here would have. */
export const locate = (command: Command): { config: Config; pid: number | undefined } => {
  const config = loadConfig(command);
  const { dataDir } = command.optsWithGlobals<{ dataDir?: string }>();
  const named = dataDir !== undefined || (process.env.SALLYPORT_DATA_DIR ?? '') !== '';
  const instance = chooseInstance(findInstances(), { named, dataDir: config.dataDir });
  return { config: instance?.config ?? config, pid: instance?.pid };
};
