import { Resolver } from 'node:dns/promises';
import { formatAddress, parseAddress } from './name-server-address.ts';

/** For one server, once; c-ares asks again by itself. */
const ASK_MS = 3_000;
const TRIES = 2;
/** As long as a chain of aliases may be; resolvers give up at about as many. */
const MAX_ALIASES = 10;

/** There is no such record, or no such name. */
const NOTHING = ['ENODATA', 'ENOTFOUND'];

/**
 * Where a record can be written. What a name server answers may have blanks in it, and with them would be more than a name wherever it is
 * written down: `name 60 IN TXT text` in a script of nsupdate.
 */
const WRITABLE = /^(?=.{1,253}$)[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

const REASONS: Readonly<Record<string, string>> = {
  ETIMEOUT: 'the name servers do not answer',
  ECONNREFUSED: 'the name servers refuse the connection',
  EREFUSED: 'the name servers refuse to answer',
  ESERVFAIL: 'the name servers answer that they failed (SERVFAIL)',
};

/** What came of a look-up; rejects with an `Error` in words when nobody could answer it. */
const found = async <T>(name: string, asked: Promise<T[]>): Promise<T[]> => {
  try {
    return await asked;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (NOTHING.includes(code)) return [];
    throw new Error(`${name} can't be looked up: ${REASONS[code] ?? code}`, { cause: error });
  }
};

const ask = (servers: readonly string[]): Resolver => {
  const resolver = new Resolver({ timeout: ASK_MS, tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  return resolver;
};

/** A name server of a zone; `address` has the port when it is not 53. */
export interface NameServer {
  name: string;
  address: string;
}

/** A record of who may issue certificates (RFC 8659): `issue`, `issuewild` or another tag, and its value as it is written. */
export interface CaaRecord {
  tag: string;
  value: string;
  isCritical: boolean;
}

/**
 * Asks DNS itself, past /etc/hosts. `servers` are where look-ups begin, `address` or `address:port`; none: the system's.
 * A server of a zone that is among them is asked at the port that is given there.
 */
export const createNameServers = (servers: readonly string[]) => {
  const resolver = ask(servers);
  const given = servers.map(parseAddress);

  const isAlias = async (name: string): Promise<boolean> => (await found(name, resolver.resolveCname(name))).length > 0;

  const addressesOf = async (name: string): Promise<string[]> => {
    const kinds = [resolver.resolve4(name), resolver.resolve6(name)];
    // Those of one family are enough, whatever becomes of the other.
    const all = await Promise.all(kinds.map((kind) => found(name, kind).catch((): string[] => [])));
    return all.flat();
  };

  return {
    servers,

    /** IPv4 and IPv6 addresses of a name, over its aliases; empty when it has none. Rejects when that could not be found out. */
    async addresses(name: string): Promise<string[]> {
      const kinds = [resolver.resolve4(name), resolver.resolve6(name)];
      const answers = await Promise.allSettled(kinds.map((kind) => found(name, kind)));
      const all = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      const failed = answers.find((answer) => answer.status === 'rejected');
      if (all.length === 0 && failed) throw failed.reason;
      return all;
    },

    /** The CAA records that hold for a name: its own, or those of the nearest name above (RFC 8659, section 3). */
    async authoritiesOf(name: string): Promise<{ at: string; records: CaaRecord[] } | undefined> {
      for (let at = name; at !== ''; at = at.slice(at.indexOf('.') + 1 || at.length)) {
        const records = await found(at, resolver.resolveCaa(at));
        if (records.length === 0) continue;
        return {
          at,
          records: records.flatMap(({ critical, ...tags }) =>
            Object.entries(tags)
              .filter(([tag]) => tag !== 'type')
              .map(([tag, value]) => ({
                tag: tag.toLowerCase(),
                value: String(value),
                isCritical: (critical & 128) !== 0,
              })),
          ),
        };
      }
      return undefined;
    },

    /**
     * Where a name leads by CNAME records; itself without one: letters, digits, hyphens and underscores between dots. Rejects when they
     * lead in a circle, too far, or to a name of other characters.
     */
    async follow(name: string): Promise<string> {
      const seen = new Set<string>();
      for (let at = name.toLowerCase(); ; ) {
        if (seen.has(at)) throw new Error(`the CNAME records of ${name} lead in a circle`);
        if (seen.size > MAX_ALIASES) throw new Error(`${name} leads over more than ${MAX_ALIASES} CNAME records`);
        seen.add(at);
        const [next] = await found(at, resolver.resolveCname(at));
        if (next === undefined) return at;
        at = next.toLowerCase().replace(/\.$/, '');
        if (!WRITABLE.test(at)) {
          throw new Error(`the CNAME records of ${name} lead to ${JSON.stringify(at)}, where no record can be written`);
        }
      }
    },

    /** The zone that a name lies in. Rejects when there is none. */
    async zoneOf(name: string): Promise<string> {
      for (let at = name; at !== ''; at = at.slice(at.indexOf('.') + 1 || at.length)) {
        // Its answer would be that of where it leads, or no answer at all: of an alias whose target is no zone, c-ares says EBADRESP.
        if (await isAlias(at)) continue;
        const [authority] = await found(
          at,
          resolver.resolveSoa(at).then((soa) => [soa]),
        );
        if (authority) return at;
      }
      throw new Error(`no zone is found that ${name} lies in`);
    },

    /** The servers of a zone, one for each address. */
    async serversOf(zone: string): Promise<NameServer[]> {
      const names = await found(zone, resolver.resolveNs(zone));
      const each = names.map(async (name) =>
        (await addressesOf(name)).map((address) => {
          const known = given.find((one) => one.address === address);
          return { name, address: formatAddress(address, known?.port) };
        }),
      );
      return (await Promise.all(each)).flat();
    },

    /** Values of TXT records, as `server` tells them; without one, as the resolver does. Rejects when it does not answer. */
    async textOf(name: string, server?: NameServer): Promise<string[]> {
      const asked = server === undefined ? resolver : ask([server.address]);
      const records = await found(name, asked.resolveTxt(name));
      return records.map((parts) => parts.join(''));
    },
  };
};
export type NameServers = ReturnType<typeof createNameServers>;
