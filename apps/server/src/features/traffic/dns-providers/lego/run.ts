import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSelfSignedCertificate } from '@sallyport/haproxy';
import { isDiskFull } from '@sallyport/store/database/faults';
import type { DnsProviderAccess } from '../access.ts';
import { type ProgramEnd, startProgram } from '../run-program.ts';
import { type DnsChallenge, DnsWriteFailed, type OpenRecords } from '../writer.ts';
import { type AccountKey, readAccountKey, recordValue } from './account-key.ts';
import { environmentOf, type LegoType } from './fields.ts';
import { type Relay, startRelay } from './relay.ts';
import { leftBehind, reasonOf } from './words.ts';

/** All of one run, longer than the relay keeps it waiting. */
const RUN_MS = 55 * 60_000;
/** How long lego waits for one answer of ours, longer than that. */
const ANSWER_SECONDS = 3_600;
/** From its start until all records are set. */
const PRESENT_MS = 5 * 60_000;
/** From being told that it is over until it has taken the records away. */
const CLEAN_MS = 2 * 60_000;

/** Names nothing: the account is never registered with anybody. */
const EMAIL = 'dns@sallyport.invalid';
const DAY_MS = 86_400_000;

export interface LegoRun {
  /** Path of the program. */
  program: string;
  type: LegoType;
  access: DnsProviderAccess;
  challenges: readonly DnsChallenge[];
  accountKeyPem: string;
  /** Where look-ups begin; none: the system's. */
  resolvers: readonly string[];
  /** A directory for each run is made below it. */
  directory: string;
  signal: AbortSignal;
}

const identity = () => {
  const validFrom = new Date(Date.now() - DAY_MS);
  return createSelfSignedCertificate({ names: ['127.0.0.1'], validFrom, validDays: 3 });
};

const readKey = (pem: string): AccountKey => {
  try {
    return readAccountKey(pem);
  } catch (error) {
    throw new DnsWriteFailed((error as Error).message, error);
  }
};

/** `private` lets nobody else in; lego finds the account's key where it would have put it itself. */
const prepare = async (directory: string, run: LegoRun, relay: Relay, { pem }: AccountKey, certificate: string) => {
  const keys = join(directory, 'accounts', new URL(relay.url).host.replace(':', '_'), EMAIL, 'keys');
  await mkdir(keys, { recursive: true, mode: 0o700 });
  const write = (path: string, text: string) => writeFile(path, text, { mode: 0o600 });
  await write(join(keys, `${EMAIL}.key`), pem);
  const authority = join(directory, 'relay.pem');
  await write(authority, certificate);
  const files = await Promise.all(
    run.type.fileKeys.map(async (key) => {
      const content = run.access.secrets[key];
      if (content === undefined) return [];
      const path = join(directory, key);
      await write(path, content.endsWith('\n') ? content : `${content}\n`);
      return [[key, path]] as const;
    }),
  );
  return environmentOf(run.type, run.access, { directory, authority, files: Object.fromEntries(files.flat()) });
};

const argsOf = ({ type, challenges, resolvers }: LegoRun, directory: string, url: string): string[] => {
  const seen = new Set<string>();
  const domains = challenges.map(({ domain }) => {
    const name = seen.has(domain) ? `*.${domain}` : domain;
    seen.add(domain);
    return name;
  });
  return [
    ...['--server', url, '--email', EMAIL, '--accept-tos', '--path', directory],
    ...['--dns', type.code, '--dns.disable-cp', '--http-timeout', String(ANSWER_SECONDS)],
    ...resolvers.flatMap((server) => ['--dns.resolvers', server]),
    ...domains.flatMap((domain) => ['--domains', domain]),
    'run',
  ];
};

/** Starts lego in `directory`, which goes when it has ended, as its relay does. */
const startIn = async (directory: string, run: LegoRun, key: AccountKey) => {
  let relay: Relay | undefined;
  const clear = async () => {
    await relay?.stop();
    // What can't be removed now is at the next start.
    await rm(directory, { recursive: true, force: true }).catch(() => {});
  };
  try {
    const { certificate, key: relayKey } = await identity();
    relay = await startRelay({ challenges: run.challenges, publicKey: key.publicKey, certificate, key: relayKey });
    const env = await prepare(directory, run, relay, key, certificate);
    const args = argsOf(run, directory, relay.url);
    const outputFile = join(directory, 'output');
    const call = { path: run.program, args, env, cwd: directory, limitMs: RUN_MS, outputFile };
    const program = await startProgram(call);
    const ended = program.ended.finally(clear);
    return { program, relay, ended };
  } catch (error) {
    await clear();
    throw error;
  }
};

/** A lego that is about to set its records. Rejects with a `DnsWriteFailed` when there is no room, or no process, for it. */
const start = async (run: LegoRun, key: AccountKey) => {
  try {
    await mkdir(run.directory, { recursive: true, mode: 0o700 });
    return await startIn(await mkdtemp(join(run.directory, 'lego-')), run, key);
  } catch (error) {
    const why = (error as Error).message;
    const fix = isDiskFull(error)
      ? 'make room on the disk of the data directory'
      : 'see that it may be run, and that its directory can be written';
    throw new DnsWriteFailed(`lego (${run.type.code}) could not be started: ${why} – ${fix}`, error);
  }
};
type Running = Awaited<ReturnType<typeof start>>;

/** Tells a lego that it is over and waits for its end; one that does not end is ended. */
const end = async ({ program, relay, ended }: Running): Promise<ProgramEnd> => {
  relay.finish();
  const limit = setTimeout(program.kill, CLEAN_MS);
  const how = await ended;
  clearTimeout(limit);
  return how;
};

/** What becomes of a lego first: its records are set, it ends, or it takes too long. Rejects with the reason of `signal`. */
const firstOf = async ({ relay, ended }: Running, signal: AbortSignal): Promise<'set' | 'late' | ProgramEnd> => {
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(signal.reason);
  signal.addEventListener('abort', stop);
  const late = new AbortController();
  const limit = sleep(PRESENT_MS, 'late' as const, { signal: late.signal }).catch(() => 'late' as const);
  try {
    signal.throwIfAborted();
    return await Promise.race([relay.presented.then(() => 'set' as const), ended, limit, stopped.promise]);
  } finally {
    late.abort();
    signal.removeEventListener('abort', stop);
  }
};

/** Has a fresh lego set records and take them away again: what another one left, which was ended in between. */
const cleanAfter = async (run: LegoRun, key: AccountKey): Promise<void> => {
  const again = await start(run, key);
  await firstOf(again, new AbortController().signal);
  const how = await end(again);
  const secrets = Object.values(run.access.secrets);
  const left = how.code === null ? reasonOf(how, secrets) : leftBehind(how, secrets);
  if (left !== undefined) throw new DnsWriteFailed(`lego (${run.type.code}) could not take the record away: ${left}`);
};

const notSet = ({ type, access }: LegoRun, first: 'late' | ProgramEnd): DnsWriteFailed => {
  const why =
    first === 'late'
      ? `it was not done in ${PRESENT_MS / 60_000} minutes`
      : reasonOf(first, Object.values(access.secrets));
  return new DnsWriteFailed(`lego (${type.code}) could not set the record: ${why}`);
};

/**
 * Has lego set the records of challenges, and take them away when they are closed. It holds the account's key for that time, in
 * a directory that goes with it. Rejects with a `DnsWriteFailed`.
 */
export const runLego = async (run: LegoRun): Promise<OpenRecords> => {
  const key = readKey(run.accountKeyPem);
  for (const { token, value } of run.challenges) {
    if (recordValue(token, key) !== value) throw new DnsWriteFailed('the challenge is not one of this account');
  }
  run.signal.throwIfAborted();
  const running = await start(run, key);
  const first = await firstOf(running, run.signal).catch((error: unknown) => {
    // Whoever gives up need not wait for it: it takes away what it has set, and ends.
    void end(running);
    throw error;
  });
  if (first === 'late') running.program.kill();
  if (first !== 'set') {
    // Ended by force it had no time to take away what it may have set.
    if ((await running.ended).code === null) await cleanAfter(run, key).catch(() => {});
    throw notSet(run, first);
  }
  return {
    async close() {
      const how = await end(running);
      if (how.code === null) return cleanAfter(run, key);
      const left = leftBehind(how, Object.values(run.access.secrets));
      if (left !== undefined)
        throw new DnsWriteFailed(`lego (${run.type.code}) could not take the record away: ${left}`);
    },
  };
};
