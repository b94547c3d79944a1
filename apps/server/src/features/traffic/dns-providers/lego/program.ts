import { execFile } from 'node:child_process';
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const INSTALL = 'install it with: apt-get install lego';
const LIMIT_MS = 10_000;
/** Where services look that were started with a bare environment. */
const USUAL_PATH = '/usr/local/bin:/usr/bin:/bin';

/** lego's flags moved from before the command to behind it with its version 5, which keeps keys elsewhere, too. */
const isOneWeCanLead = (help: string): boolean => /GLOBAL OPTIONS:[\s\S]*--dns\.resolvers/.test(help);

/** What a lego says when asked, with nothing of our environment. */
export const askLego = async (path: string, ...args: string[]): Promise<string> => {
  const { stdout } = await run(path, args, { timeout: LIMIT_MS, env: { PATH: USUAL_PATH, HOME: '/' }, cwd: '/' });
  return stdout;
};

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

export interface LegoProgram {
  path: string;
  /** Another one after every update of it. */
  stamp: string;
}

const stampOf = (path: string): string => {
  const real = realpathSync(path);
  const { mtimeMs, size } = statSync(real);
  return `${real} ${mtimeMs} ${size}`;
};

/** What was found out about a program, by its stamp: asking it costs more than all else. */
const asked = new Map<string, boolean>();

const canBeLed = async (path: string, stamp: string): Promise<boolean> => {
  const known = asked.get(stamp);
  if (known !== undefined) return known;
  const answer = isOneWeCanLead(await askLego(path, '--help').catch(() => ''));
  asked.set(stamp, answer);
  return answer;
};

/**
 * Finds lego: the first on PATH that can be led from outside, so that a newer one than Debian's comes first. Rejects with an `Error`
 * that says what is missing.
 */
export const findLego = async (searchPath = process.env.PATH ?? USUAL_PATH): Promise<LegoProgram> => {
  const found = searchPath
    .split(delimiter)
    .filter((directory) => directory.startsWith('/'))
    .map((directory) => join(directory, 'lego'))
    .filter(isProgram);
  for (const path of new Set(found)) {
    const stamp = stampOf(path);
    if (await canBeLed(path, stamp)) return { path, stamp };
  }
  if (found.length > 0) throw new Error(`${found.join(' and ')} is no lego of version 4; ${INSTALL}`);
  throw new Error(`lego is not installed; ${INSTALL}`);
};
