import { type Config, parseConfig } from '@sallyport/deployment/config';
import { readEnvironment } from '@sallyport/deployment/config-sources';
import type { Command } from 'commander';

/** Reads the configuration as the server would. Throws `ConfigError`. */
export const loadConfig = (command: Command): Config => {
  const { dataDir } = command.optsWithGlobals<{ dataDir?: string }>();
  const flags = dataDir === undefined ? [] : ['--data-dir', dataDir];
  return parseConfig(readEnvironment(flags, process.env, process.cwd()), process.cwd());
};
