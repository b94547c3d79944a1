import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSelfSignedCertificate } from '@sallyport/haproxy';
import type { DnsProviderAccess } from '../access.ts';
import { startProgram } from '../run-program.ts';
import { type DnsChallenge, DnsWriteFailed, type OpenRecords } from '../writer.ts';
import { type AccountKey, readAccountKey, recordValue } from './account-key.ts';
import { environmentOf, type LegoType } from './fields.ts';
import { type Relay, startRelay } from './relay.ts';
import { leftBehind, reasonOf } from './words.ts';

/** All of one run, longer than the relay can keep it waiting. */
const RUN_MS = 20 * 60_000;
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
    ...['--dns', type.code, '--dns.disable-cp'],
    ...resolvers.flatMap((server) => ['--dns.resolvers', server]),
    ...domains.flatMap((domain) => ['--domains', domain]),
    'run',
  ];
};

/** A lego that has set its records, or has ended. */
const start = async (run: LegoRun, key: AccountKey) => {
  await mkdir(run.directory, { recursive: true, mode: 0o700 });
  const directory = await mkdtemp(join(run.directory, 'lego-'));
  const { certificate, key: relayKey } = await identity();
  const relay = await startRelay({
    challenges: run.challenges,
    publicKey: key.publicKey,
    certificate,
    key: relayKey,
  });
  const clear = async () => {
    await relay.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const env = await prepare(directory, run, relay, key, certificate);
    const args = argsOf(run, directory, relay.url);
    const program = await startProgram({ path: run.program, args, env, cwd: directory, limitMs: RUN_MS });
    const ended = program.ended.finally(clear);
    return { program, relay, ended };
  } catch (error) {
    await clear();
    throw error;
  }
};

/** Tells a lego that it is over and waits for its end; one that does not end is ended. */
const end = async ({ program, relay, ended }: Awaited<ReturnType<typeof start>>) => {
  relay.finish();
  const limit = setTimeout(program.kill, CLEAN_MS);
  const how = await ended;
  clearTimeout(limit);
  return how;
};

/** Has a fresh lego set records and take them away again: what another one left, which was ended in between. */
const cleanAfter = async (run: LegoRun, key: AccountKey): Promise<void> => {
  const again = await start({ ...run, signal: new AbortController().signal }, key);
  const limit = setTimeout(again.program.kill, PRESENT_MS);
  await Promise.race([again.relay.presented, again.ended]);
  clearTimeout(limit);
  const how = await end(again);
  const left =
    how.code === null
      ? reasonOf(how, Object.values(run.access.secrets))
      : leftBehind(how, Object.values(run.access.secrets));
  if (left !== undefined) throw new DnsWriteFailed(`lego could not take the record away: ${left}`);
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
  const secrets = Object.values(run.access.secrets);
  const running = await start(run, key);
  const { program, relay, ended } = running;
  let isOver = false;
  const giveUp = () => {
    isOver = true;
    relay.finish();
  };
  run.signal.addEventListener('abort', giveUp, { once: true });
  const limit = setTimeout(program.kill, PRESENT_MS);
  const first = await Promise.race([relay.presented.then(() => undefined), ended]);
  clearTimeout(limit);
  run.signal.removeEventListener('abort', giveUp);
  if (isOver) {
    await end(running);
    run.signal.throwIfAborted();
  }
  if (first) {
    // Ended by force it had no time to take away what it may have set.
    if (first.code === null) await cleanAfter(run, key).catch(() => {});
    throw new DnsWriteFailed(`lego (${run.type.code}) could not set the record: ${reasonOf(first, secrets)}`);
  }
  return {
    async close() {
      const how = await end(running);
      if (how.code === null) return cleanAfter(run, key);
      const left = leftBehind(how, secrets);
      if (left !== undefined)
        throw new DnsWriteFailed(`lego (${run.type.code}) could not take the record away: ${left}`);
    },
  };
};
