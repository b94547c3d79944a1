import { hash } from 'node:crypto';
import type { NameServers } from '../../../net/name-servers.ts';
import type { SafeFetch } from '../../../net/safe-fetch.ts';
import { createTurnsByKey } from '../../in-turn.ts';
import type { DnsProviderAccess } from './access.ts';
import { runLego } from './lego/run.ts';
import type { LegoTypes } from './lego/types.ts';
import { writeByUpdate } from './rfc2136.ts';
import type { KnownType, ProviderTypes } from './types.ts';
import { waitUntilShown } from './wait-until-shown.ts';
import { writeByHook } from './webhook.ts';
import { type DnsChallenge, type DnsRecordWriter, DnsWriteFailed, inWords, type OpenRecords, undo } from './writer.ts';

const WAIT_MS = 5 * 60_000;
/** Less than lego can be kept waiting. */
const LONGEST_WAIT_MS = 45 * 60_000;

/** How long a provider may take: some name it, in seconds, since theirs are known to be slow. */
const patienceWith = ({ fields }: DnsProviderAccess): number => {
  const [, seconds] = Object.entries(fields).find(([key]) => key.endsWith('_PROPAGATION_TIMEOUT')) ?? [];
  const named = Number(seconds) * 1_000;
  return named > 0 ? Math.min(named, LONGEST_WAIT_MS) : WAIT_MS;
};

export interface DnsWriterDeps {
  /** DNS as it is to be asked at this moment. */
  nameServers: () => Promise<NameServers>;
  types: Pick<ProviderTypes, 'find'>;
  lego: Pick<LegoTypes, 'program'>;
  /** Calls hooks: it may reach private addresses, which an administrator named. */
  fetch: SafeFetch;
  /** Where runs of lego keep what they need; see `clearLeftRuns`. */
  directory: string;
}

/** One account at a provider, without its secrets. */
const accountOf = ({ type, fields, secrets }: DnsProviderAccess): string =>
  hash('sha256', JSON.stringify([type, fields, secrets]));

/** Makes what sets records at providers of all types. */
export const createDnsRecordWriter = (deps: DnsWriterDeps): DnsRecordWriter => {
  const inTurn = createTurnsByKey();

  const typeOf = async (type: string): Promise<KnownType> => {
    const known = await deps.types.find(type).catch(inWords);
    if (!known)
      throw new DnsWriteFailed(
        `No DNS provider of type ${type} is known here; the lego that knew it may be another one now`,
      );
    return known;
  };

  return {
    async rounds(provider, challenges) {
      const { lego } = await typeOf(provider.type);
      return lego?.isSequential ? challenges.map((challenge) => [challenge]) : [[...challenges]];
    },

    async open(provider: DnsProviderAccess, challenges, { accountKeyPem, signal, waitMs = patienceWith(provider) }) {
      const { lego } = await typeOf(provider.type);
      const dns = await deps.nameServers();
      const records = await Promise.all(
        challenges.map(async ({ domain, value }: DnsChallenge) => ({
          domain,
          name: await dns.follow(`_acme-challenge.${domain}`).catch(inWords),
          value,
        })),
      );

      const write = async (): Promise<OpenRecords> => {
        if (provider.type === 'rfc2136') return writeByUpdate(provider, records, { dns, signal });
        if (provider.type === 'webhook') return writeByHook(provider, records, { fetch: deps.fetch, signal });
        if (!lego) throw new DnsWriteFailed(`Nobody writes to providers of type ${provider.type}`);
        const program = await deps.lego.program().catch(inWords);
        const { directory } = deps;
        const resolvers = dns.servers;
        const run = { program, type: lego, access: provider, challenges, accountKeyPem, resolvers, directory, signal };
        // Some providers have their zone read and written as a whole: two at once would lose records of each other.
        const account = accountOf(provider);
        const open = await inTurn(account, () => runLego(run), signal);
        return { close: () => inTurn(account, open.close) };
      };

      const written = await write();
      try {
        await waitUntilShown(dns, records, { limitMs: waitMs, signal });
      } catch (error) {
        await undo(written, signal);
        throw error;
      }
      return written;
    },
  };
};
