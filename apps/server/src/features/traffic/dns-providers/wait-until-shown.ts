import { setTimeout as sleep } from 'node:timers/promises';
import type { NameServer, NameServers } from '../../../net/name-servers.ts';
import type { TextRecord } from './access.ts';
import { DnsWriteFailed } from './writer.ts';

/** Between two looks; longer and longer, since some providers take minutes. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

type Look = 'shows' | 'lacks' | 'silent';

const lookAt = async (dns: NameServers, { name, value }: TextRecord, server?: NameServer): Promise<Look> => {
  try {
    return (await dns.textOf(name, server)).includes(value) ? 'shows' : 'lacks';
  } catch {
    return 'silent';
  }
};

/** Who lacks a record, in words; undefined when whoever answers shows it. */
const lackOf = async (
  dns: NameServers,
  record: TextRecord,
  servers: readonly NameServer[],
): Promise<string | undefined> => {
  const looks = await Promise.all(servers.map((server) => lookAt(dns, record, server)));
  const lacking = servers.filter((_server, index) => looks[index] === 'lacks');
  if (lacking.length > 0) return lacking.map(({ name, address }) => `${name} (${address})`).join(', ');
  if (looks.includes('shows')) return undefined;
  // From inside of some networks nobody but the own resolver is to be reached.
  if ((await lookAt(dns, record)) === 'shows') return undefined;
  return servers.length === 0 ? 'the name server' : `none of the zone's servers answers, and the resolver`;
};

const waitFor = async (dns: NameServers, record: TextRecord, limitMs: number, signal: AbortSignal): Promise<void> => {
  const giveUpAt = performance.now() + limitMs;
  const servers = await dns.serversOf(await dns.zoneOf(record.name));
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const lack = await lackOf(dns, record, servers);
    if (lack === undefined) return;
    signal.throwIfAborted();
    if (performance.now() > giveUpAt) {
      throw new DnsWriteFailed(
        `The provider took the record, but after ${Math.round(limitMs / 1000)} seconds it is still not seen: ${lack} does not show TXT ${record.name}`,
      );
    }
    await sleep(pauseMs, undefined, { signal });
  }
};

/**
 * Waits until all servers of the zones that answer show the records; where none does, until the resolver does. Rejects with a
 * `DnsWriteFailed` after `limitMs`, and with the reason of `signal`.
 */
export const waitUntilShown = async (
  dns: NameServers,
  records: readonly TextRecord[],
  { limitMs, signal }: { limitMs: number; signal: AbortSignal },
): Promise<void> => {
  const waiting = await Promise.allSettled(records.map((record) => waitFor(dns, record, limitMs, signal)));
  const failed = waiting.find((one) => one.status === 'rejected');
  if (!failed) return;
  signal.throwIfAborted();
  if (failed.reason instanceof DnsWriteFailed) throw failed.reason;
  throw new DnsWriteFailed((failed.reason as Error).message, failed.reason);
};
