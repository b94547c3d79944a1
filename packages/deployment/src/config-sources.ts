import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs, parseEnv } from 'node:util';
import { ConfigError } from './config.ts';
import { envFile } from './places.ts';

type Environment = Record<string, string | undefined>;

/** `--http-bind` stands for `SALLYPORT_HTTP_BIND`; the store's URL has its customary name. */
const variableOf = (flag: string): string =>
  flag === 'database-url' ? 'DATABASE_URL' : `SALLYPORT_${flag.replaceAll('-', '_').toUpperCase()}`;

/** What stands in the argument list, every user of the machine can read. */
const SECRET_FLAGS = ['session-secret', 'encryption-key', 'emergency-token', 'emergency-basic-auth'];

const refuseSecrets = (flags: Environment): void => {
  const given = SECRET_FLAGS.filter((flag) => flags[variableOf(flag)] !== undefined);
  const url = flags.DATABASE_URL;
  if (url !== undefined && URL.canParse(url) && new URL(url).password !== '') given.push('database-url');
  const [flag] = given;
  if (flag === undefined) return;
  throw new ConfigError([
    `--${flag} would show a secret to other users; set ${variableOf(flag)} in the environment or .env`,
  ]);
};

const readFlags = (argv: readonly string[]): Environment => {
  const { tokens } = parseArgs({ args: [...argv], strict: false, tokens: true, allowPositionals: true });
  const flags: Environment = {};
  let pending: string | undefined;
  for (const token of tokens) {
    if (token.kind === 'option') {
      if (pending !== undefined) throw new ConfigError([`--${pending} needs a value`]);
      if (token.value === undefined) pending = token.name;
      else flags[variableOf(token.name)] = token.value;
    } else if (token.kind === 'positional' && pending !== undefined) {
      flags[variableOf(pending)] = token.value;
      pending = undefined;
    } else {
      throw new ConfigError([`unexpected argument "${argv[token.index]}"`]);
    }
  }
  if (pending !== undefined) throw new ConfigError([`--${pending} needs a value`]);
  refuseSecrets(flags);
  return flags;
};

const readEnvFile = (path: string): Environment => {
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (error) {
    // A data directory that is none is refused where it is opened.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return {};
    throw new ConfigError([`${path} can not be read: ${(error as Error).message}`]);
  }
};

/**
 * Merges what configures the deployment, strongest first: command line flags, the environment, `.env` in the data
 * directory. Throws `ConfigError` for a flag without a value.
 */
export const readEnvironment = (argv: readonly string[], env: Environment, cwd: string): Environment => {
  const flags = readFlags(argv);
  const dataDir = resolve(cwd, flags.SALLYPORT_DATA_DIR || env.SALLYPORT_DATA_DIR || 'data');
  return { ...readEnvFile(envFile(dataDir)), ...env, ...flags };
};
