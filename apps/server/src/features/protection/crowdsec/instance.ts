import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { CrowdsecAccount } from './account.ts';
import { configFiles, WHITELIST_FILE, whitelistParser } from './files.ts';
import type { Credentials } from './lapi-writer.ts';
import type { CrowdsecProgram } from './program.ts';

const run = promisify(execFile);

const HUB = '/usr/share/crowdsec/hub';
const LISTS = '/usr/share/crowdsec/data';
const PATTERNS = '/etc/crowdsec/patterns';

/** Of the offline hub, what reads a web server's log. Not its `whitelists`: who is spared is ours to say. */
const PARSERS = [
  's00-raw/crowdsecurity/syslog-logs.yaml',
  's01-parse/crowdsecurity/nginx-logs.yaml',
  's02-enrich/crowdsecurity/dateparse-enrich.yaml',
  's02-enrich/crowdsecurity/http-logs.yaml',
];

/** Debian ships one list under another name than its scenario asks for; without it every line is an error of 13 kB. */
const RENAMED: Readonly<Record<string, string>> = { 'http_path_traversal.txt': 'path_traversal.txt' };

/** A scenario about what clients ask of a web server; not all of them name the kind of log. */
const OF_HTTP = /http_access-log|Meta\.service == 'http'|Meta\.http_(?:path|status|user_agent)/;

const NO_RIGHTS =
  'root lacks rights here (CAP_SETUID, CAP_SETGID, CAP_SETPCAP) that giving CrowdSec an account of its own takes; run Sallyport as another user';

const ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' };

export interface Instance {
  directory: string;
  account: CrowdsecAccount;
  port: number;
  program: CrowdsecProgram;
}

/** What CrowdSec's processes get of an environment: nothing of ours. */
export const crowdsecEnvironment = (): Record<string, string> => ({ ...ENVIRONMENT });

const filesIn = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.yaml'))
    .map((entry) => join(entry.parentPath, entry.name));

/** Where a scenario's lists are; undefined when one is missing, which would stop the start. */
const listsOf = (scenario: string): [name: string, from: string][] | undefined => {
  const names = [...scenario.matchAll(/^\s*(?:- )?dest_file:\s*["']?([\w.-]+)/gm)].map(([, name = '']) => name);
  const found = names.map((name): [string, string] => [name, join(LISTS, RENAMED[name] ?? name)]);
  return found.every(([, from]) => existsSync(from)) ? found : undefined;
};

const copyDetection = (directory: string): void => {
  for (const parser of PARSERS) {
    const [stage = '', , name = ''] = parser.split('/');
    mkdirSync(join(directory, 'etc/parsers', stage), { recursive: true });
    copyFileSync(join(HUB, 'parsers', parser), join(directory, 'etc/parsers', stage, name));
  }
  mkdirSync(join(directory, 'etc/scenarios'), { recursive: true });
  for (const path of filesIn(join(HUB, 'scenarios'))) {
    const text = readFileSync(path, 'utf8');
    const lists = OF_HTTP.test(text) ? listsOf(text) : undefined;
    if (!lists) continue;
    const [author = '', name = ''] = path.split('/').slice(-2);
    copyFileSync(path, join(directory, 'etc/scenarios', `${author}-${name}`));
    for (const [list, from] of lists) copyFileSync(from, join(directory, 'lists', list));
  }
  mkdirSync(join(directory, 'etc/patterns'), { recursive: true });
  for (const name of readdirSync(PATTERNS)) copyFileSync(join(PATTERNS, name), join(directory, 'etc/patterns', name));
};

/** Read, not written, by CrowdSec: root must never write where another account could have put a link. */
const letRead = (path: string, id: number | undefined): void => {
  const isDirectory = lstatSync(path).isDirectory();
  if (id !== undefined) chownSync(path, 0, id);
  chmodSync(path, isDirectory ? 0o750 : 0o640);
  if (isDirectory) for (const name of readdirSync(path)) letRead(join(path, name), id);
};

const runCli = async ({ account, program }: Instance, args: readonly string[]): Promise<string> => {
  const [command, line] = account.wrap(program.cli, ['-c', `${account.view}/etc/config.yaml`, ...args]);
  const options = { env: crowdsecEnvironment(), cwd: account.cwd, timeout: 30_000 };
  const { stdout } = await run(command, line, options).catch((error: Error & { stderr?: string }) => {
    const told = error.stderr?.trim().split('\n').at(-1) ?? '';
    if (/^(?:unshare|mount|setpriv):/.test(told)) throw new Error(`${told}; ${NO_RIGHTS}`);
    throw new Error(`cscli ${args.slice(0, 2).join(' ')}: ${told || error.message}`);
  });
  return stdout;
};

const keyFile = (directory: string): string => join(directory, 'key');

/** Machine and bouncer are rows of CrowdSec's database: all three are made together, or none is there. */
const makeCredentials = async (instance: Instance): Promise<void> => {
  const { directory, account } = instance;
  const { at: state, view } = account.state;
  const isMade = [keyFile(directory), join(state, 'crowdsec.db'), join(state, 'credentials.yaml')].every(existsSync);
  if (isMade) return;
  rmSync(keyFile(directory), { force: true });
  rmSync(state, { recursive: true, force: true });
  mkdirSync(state, { mode: 0o700 });
  if (account.id !== undefined) chownSync(state, account.id, account.id);
  await runCli(instance, ['machines', 'add', 'sallyport', '--auto', '-f', `${view}/credentials.yaml`]);
  const key = (await runCli(instance, ['bouncers', 'add', 'sallyport', '-o', 'raw'])).trim();
  if (!/^[\w+/=-]{16,}$/.test(key)) throw new Error('cscli made no key for the decisions');
  writeFileSync(keyFile(directory), key, { mode: 0o600 });
};

/** Has the process spare these networks from now on, once it is told to read its configuration anew. */
export const writeWhitelist = ({ directory, account }: Instance, whitelist: readonly string[]): void => {
  const path = join(directory, WHITELIST_FILE);
  writeFileSync(path, whitelistParser(whitelist));
  letRead(path, account.id);
};

/** Who we are to its local API. Throws when there is no such file yet, or it can't be read. */
export const readCredentials = ({ account }: Pick<Instance, 'account'>): Credentials => {
  const text = readFileSync(join(account.state.at, 'credentials.yaml'), 'utf8');
  const field = (name: string): string => new RegExp(`^${name}:\\s*["']?(.*?)["']?\\s*$`, 'm').exec(text)?.[1] ?? '';
  return { machine_id: field('login'), password: field('password') };
};

/** The log that CrowdSec reads. */
export const accessLog = (directory: string): string => join(directory, 'log', 'access.log');

/**
 * Writes the private instance anew but for its state, and makes its credentials the first time. Returns the key that its decisions
 * are read with. Throws when a file can't be written or `cscli` fails.
 */
export const prepareInstance = async (instance: Instance, whitelist: readonly string[] = []): Promise<string> => {
  const { directory, account, port } = instance;
  mkdirSync(directory, { recursive: true, mode: 0o750 });
  for (const part of ['etc', 'hub', 'lists']) rmSync(join(directory, part), { recursive: true, force: true });
  for (const part of ['etc/notifications', 'hub', 'lists', 'log'])
    mkdirSync(join(directory, part), { recursive: true });
  for (const [name, text] of Object.entries(configFiles(account, port))) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  copyDetection(directory);
  writeFileSync(join(directory, WHITELIST_FILE), whitelistParser(whitelist));
  // A file that is missing at the start is never followed.
  writeFileSync(accessLog(directory), '', { flag: 'a' });
  for (const part of ['etc', 'hub', 'lists', 'log']) letRead(join(directory, part), account.id);
  if (account.id !== undefined) chownSync(directory, 0, account.id);
  chmodSync(directory, 0o750);
  await makeCredentials(instance);
  return readFileSync(keyFile(directory), 'utf8').trim();
};
