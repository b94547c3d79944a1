import { existsSync } from 'node:fs';
import { administratorsAddress } from '../../../net/administrators-address.ts';
import { formatAddress } from '../../../net/name-server-address.ts';
import { createNameServers, type NameServers } from '../../../net/name-servers.ts';
import type { DnsProviderAccess, TextRecord } from './access.ts';
import { startProgram } from './run-program.ts';
import { shownWords } from './words.ts';
import { DnsWriteFailed, inWords, type OpenRecords, undo } from './writer.ts';

const PROGRAM = '/usr/bin/nsupdate';
const INSTALL = 'install it with: apt-get install bind9-dnsutils';
/** nsupdate asks over again by itself: the first limit is of one question, in seconds. */
const ASK_SECONDS = 4;
const ASK_AGAIN = 1;
const LIMIT_MS = 45_000;

/** What servers mean, by the code that nsupdate tells. */
const MEANINGS: readonly (readonly [code: RegExp, meaning: string])[] = [
  [/BADKEY/, 'the server knows no TSIG key of this name and algorithm'],
  [/BADSIG|tsig verify failure/i, 'the TSIG secret is another one than the server has'],
  [/BADTIME/, 'the clocks of this machine and of the server differ'],
  [/NOTAUTH/, 'the server is not the primary of this zone, or refuses the TSIG key'],
  [/NOTZONE/, 'the name does not lie in this zone'],
  [/REFUSED/, 'the server refuses: its update policy does not let this key, or this address, write the name'],
  [/SERVFAIL/, 'the server failed (SERVFAIL); its log tells why'],
  [/timed out|connection refused|unreachable|no servers could be reached/i, 'the server does not answer'],
];

interface UpdateTarget {
  address: string;
  port: string;
  zone: string;
  access: DnsProviderAccess;
}

const keyLine = ({ fields, secrets }: DnsProviderAccess): string[] => {
  const { tsig_key_name, tsig_algorithm = 'hmac-sha256' } = fields;
  if (tsig_key_name === undefined || secrets.tsig_secret === undefined) return [];
  return [`key ${tsig_algorithm}:${tsig_key_name} ${secrets.tsig_secret}`];
};

/** Sends one update (RFC 2136); key and all go to the program's input, where nobody else can read them. */
const update = async (target: UpdateTarget, changes: readonly string[], signal: AbortSignal): Promise<void> => {
  signal.throwIfAborted();
  const { address, port, zone, access } = target;
  const script = [`server ${address} ${port}`, `zone ${zone}.`, ...keyLine(access), ...changes, 'send', 'quit', ''];
  const program = await startProgram({
    path: PROGRAM,
    args: ['-t', String(LIMIT_MS / 1000), '-u', String(ASK_SECONDS), '-r', String(ASK_AGAIN)],
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    cwd: '/',
    input: script.join('\n'),
    limitMs: LIMIT_MS + 5_000,
  }).catch(inWords);
  signal.addEventListener('abort', program.kill, { once: true });
  const { code, output, isTimeout } = await program.ended;
  signal.removeEventListener('abort', program.kill);
  signal.throwIfAborted();
  if (code === 0) return;
  const server = formatAddress(address, Number(port));
  if (isTimeout) throw new DnsWriteFailed(`The name server ${server} does not answer`);
  const said = shownWords(output, Object.values(access.secrets));
  const meaning = MEANINGS.find(([pattern]) => pattern.test(said))?.[1] ?? 'the update failed';
  throw new DnsWriteFailed(`The name server ${server} did not take the update of zone ${zone}: ${meaning} (${said})`);
};

const addLine =
  (ttl: string) =>
  ({ name, value }: TextRecord) =>
    `update add ${name}. ${ttl} IN TXT "${value}"`;
const deleteLine = ({ name, value }: TextRecord) => `update delete ${name}. IN TXT "${value}"`;

/** The zone of a name as the server that takes updates sees it, which may know zones that nobody else does. */
const zoneOf = async (name: string, address: string, port: string, dns: NameServers): Promise<string> => {
  try {
    return await createNameServers([formatAddress(address, Number(port))]).zoneOf(name);
  } catch {
    return dns.zoneOf(name);
  }
};

/** Sets records by dynamic updates with Debian's nsupdate. Rejects with a `DnsWriteFailed`. */
export const writeByUpdate = async (
  access: DnsProviderAccess,
  records: readonly TextRecord[],
  { dns, signal }: { dns: NameServers; signal: AbortSignal },
): Promise<OpenRecords> => {
  if (!existsSync(PROGRAM)) throw new DnsWriteFailed(`nsupdate is not installed; ${INSTALL}`);
  const { nameserver = '', port = '53', ttl = '60' } = access.fields;
  const address = await administratorsAddress(nameserver).catch(inWords);
  const byZone = new Map<string, TextRecord[]>();
  for (const record of records) {
    const zone = access.fields.zone ?? (await zoneOf(record.name, address, port, dns).catch(inWords));
    byZone.set(zone, [...(byZone.get(zone) ?? []), record]);
  }
  const written: { target: UpdateTarget; records: TextRecord[] }[] = [];

  const close = async (): Promise<void> => {
    const never = new AbortController().signal;
    const removed = await Promise.allSettled(
      written.map(({ target, records }) => update(target, records.map(deleteLine), never)),
    );
    const kept = removed.find((one) => one.status === 'rejected');
    if (kept) throw kept.reason;
  };

  try {
    for (const [name, ofZone] of byZone) {
      const target = { address, port, zone: name, access };
      // Before: an update whose answer is lost may have been made.
      written.push({ target, records: ofZone });
      await update(target, ofZone.map(addLine(ttl)), signal);
    }
  } catch (error) {
    await undo({ close }, signal);
    throw error;
  }
  return { close };
};
