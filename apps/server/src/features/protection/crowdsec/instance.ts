import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
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
import type { ConsoleCredentials } from './console/credentials.ts';
import { copyParsers, copyScenarios } from './detection.ts';
import { CONSOLE_FILE, configFiles, WHITELIST_FILE, whitelistParser } from './files.ts';
import type { Credentials } from './lapi-writer.ts';
import { type HubScenario, readHub } from './presets/hub.ts';
import type { CrowdsecProgram } from './program.ts';
import { reasonIn } from './words.ts';

const run = promisify(execFile);

const TRIAL_MS = 30_000;

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

const CREDENTIALS = 'credentials.yaml';

/** Makes the directory of what it writes anew. Once that is its own, root must not write there any more. */
const makeState = ({ id, state: { at } }: CrowdsecAccount, credentials?: string): void => {
  const file = join(at, CREDENTIALS);
  rmSync(at, { recursive: true, force: true });
  mkdirSync(at, { mode: 0o700 });
  if (credentials !== undefined) writeFileSync(file, credentials, { mode: 0o600 });
  if (id === undefined) return;
  if (credentials !== undefined) chownSync(file, id, id);
  chownSync(at, id, id);
};

const keyFile = (directory: string): string => join(directory, 'key');

/** Machine and bouncer are rows of CrowdSec's database: all three are made together, or none is there. */
const makeCredentials = async (instance: Instance): Promise<void> => {
  const { directory, account } = instance;
  const { at: state, view } = account.state;
  const isMade = [keyFile(directory), join(state, 'crowdsec.db'), join(state, CREDENTIALS)].every(existsSync);
  if (isMade) return;
  rmSync(keyFile(directory), { force: true });
  makeState(account);
  await runCli(instance, ['machines', 'add', 'sallyport', '--auto', '-f', `${view}/${CREDENTIALS}`]);
  const key = (await runCli(instance, ['bouncers', 'add', 'sallyport', '-o', 'raw'])).trim();
  if (!/^[\w+/=-]{16,}$/.test(key)) throw new Error('cscli made no key for the decisions');
  writeFileSync(keyFile(directory), key, { mode: 0o600 });
};

/** What it judges by: scenarios, and networks (canonical addresses and CIDR ranges) that it never looks at. */
export interface Rules {
  whitelist: readonly string[];
  scenarios: readonly HubScenario[];
}

/** Has the process judge by these from now on, once it is told to read its configuration anew. */
export const writeRules = ({ directory, account }: Instance, { whitelist, scenarios }: Rules): void => {
  writeFileSync(join(directory, WHITELIST_FILE), whitelistParser(whitelist));
  copyScenarios(directory, scenarios);
  for (const part of ['etc', 'lists']) letRead(join(directory, part), account.id);
};

/** Who we are to its local API. Throws when there is no such file yet, or it can't be read. */
export const readCredentials = ({ account }: Pick<Instance, 'account'>): Credentials => {
  const text = readFileSync(join(account.state.at, CREDENTIALS), 'utf8');
  const field = (name: string): string => new RegExp(`^${name}:\\s*["']?(.*?)["']?\\s*$`, 'm').exec(text)?.[1] ?? '';
  return { machine_id: field('login'), password: field('password') };
};

/** The log that CrowdSec reads. */
export const accessLog = (directory: string): string => join(directory, 'log', 'access.log');

/** Its account may look into this directory of ours. */
const openFor = ({ id }: CrowdsecAccount, directory: string): void => {
  mkdirSync(directory, { recursive: true, mode: 0o750 });
  if (id !== undefined) chownSync(directory, 0, id);
  chmodSync(directory, 0o750);
};

/** Whoever has no credentials for the console has no file of them either. */
export const writeConsole = (
  { directory, account: { id } }: Instance,
  console: ConsoleCredentials | undefined,
): void => {
  const file = join(directory, CONSOLE_FILE);
  rmSync(dirname(file), { recursive: true, force: true });
  if (console === undefined) return;
  mkdirSync(dirname(file), { mode: 0o750 });
  // JSON is YAML.
  writeFileSync(file, `${JSON.stringify({ ...console, url: `${console.url}/` })}\n`, { mode: 0o600 });
  if (id === undefined) return;
  chownSync(dirname(file), 0, id);
  chownSync(file, id, id);
};

/** Writes all that it reads anew. Throws when a file can't be written. */
export const writeFiles = (instance: Instance, rules: Rules, console?: ConsoleCredentials): void => {
  const { directory, account, port, program } = instance;
  openFor(account, directory);
  for (const part of ['etc', 'hub', 'lists']) rmSync(join(directory, part), { recursive: true, force: true });
  for (const part of ['etc/notifications', 'hub', 'lists', 'log'])
    mkdirSync(join(directory, part), { recursive: true });
  for (const [name, text] of Object.entries(configFiles(account, port, console !== undefined))) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  copyParsers(directory, program.hub);
  // A file that is missing at the start is never followed.
  writeFileSync(accessLog(directory), '', { flag: 'a' });
  for (const part of ['etc', 'hub', 'log']) letRead(join(directory, part), account.id);
  writeRules(instance, rules);
  writeConsole(instance, console);
};

/**
 * Writes the private instance anew but for its state, and makes its credentials the first time. Returns the key that its decisions
 * are read with. Throws when a file can't be written or `cscli` fails.
 */
export const prepareInstance = async (
  instance: Instance,
  rules: Rules = { whitelist: [], scenarios: readHub(instance.program.hub).scenarios },
  console?: ConsoleCredentials,
): Promise<string> => {
  writeFiles(instance, rules, console);
  await makeCredentials(instance);
  return readFileSync(keyFile(instance.directory), 'utf8').trim();
};

/**
 * Has CrowdSec read what it would judge by, in a place beside that of the process, which may run. Returns what it says against it, in
 * its words; undefined when it takes it.
 */
export const tryRules = async (instance: Instance, rules: Rules): Promise<string | undefined> => {
  openFor(instance.account, instance.directory);
  const directory = join(instance.directory, 'trial');
  const view = join(instance.account.view, 'trial');
  const { at, view: stateView } = instance.account.state;
  const state = { at: `${at}-trial`, view: `${stateView}-trial` };
  const account = { ...instance.account, view, state };
  try {
    writeFiles({ ...instance, directory, account }, rules);
    // Both are asked for and not used, for nothing is run.
    makeState(account, 'url: http://127.0.0.1:1/\nlogin: none\npassword: none\n');
    const [command, line] = account.wrap(instance.program.daemon, ['-c', `${view}/etc/config.yaml`, '-t', '-no-api']);
    // It ends with the answer: collecting garbage less often is a third of its work less.
    const options = { env: { ...crowdsecEnvironment(), GOGC: '400' }, cwd: account.cwd, timeout: TRIAL_MS };
    return await run(command, line, options).then(
      () => undefined,
      (error: Error & { stderr?: string }) => reasonIn(error.stderr?.trim().split('\n') ?? []) ?? error.message,
    );
  } finally {
    for (const made of [directory, state.at]) rmSync(made, { recursive: true, force: true });
  }
};
