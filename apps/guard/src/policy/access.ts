import {
  type CountryLookup,
  compileAccessList,
  createNetworkSet,
  type Judgement,
  parseNetwork,
} from '@sallyport/access';
import type { GuardConfig } from '@sallyport/contract';

/** Clients whose judgement is remembered, for each list; the oldest half goes when there are more. */
const REMEMBERED = 10_000;

export interface Access {
  /** Whether there is a word about this host: it has a list, or none is enforced. */
  knows(hostId: number): boolean;
  /** Why this client may not use this host; undefined when it may, or when the host has no list. */
  judge(hostId: number, client: string): string | undefined;
}

const remembering = (judge: (client: string) => Judgement): ((client: string) => Judgement) => {
  let recent = new Map<string, Judgement>();
  let older = new Map<string, Judgement>();
  return (client) => {
    let judgement = recent.get(client);
    if (judgement) return judgement;
    judgement = older.get(client) ?? judge(client);
    if (recent.size >= REMEMBERED / 2) {
      older = recent;
      recent = new Map();
    }
    recent.set(client, judgement);
    return judgement;
  };
};

/** Prepares the access lists. Throws for a network that is none, and for a host whose list is not there. */
export const compileAccess = ({ access, hosts }: GuardConfig, country: CountryLookup | undefined): Access => {
  if (!access.enabled) return { knows: () => true, judge: () => undefined };
  // Opens the database now: one that can't be read must be told before the list is in force.
  if (access.lists.some(({ countries }) => countries.length > 0)) country?.('0.0.0.0');
  const lists = new Map(access.lists.map((list) => [list.id, remembering(compileAccessList(list, country))]));
  const byHost = new Map<number, (client: string) => Judgement>();
  for (const { id, access_list_id } of hosts) {
    if (access_list_id === null) continue;
    const judge = lists.get(access_list_id);
    if (!judge) throw new Error(`host ${id} has access list ${access_list_id}, which is not there`);
    byHost.set(id, judge);
  }
  return {
    knows: (hostId) => byHost.has(hostId),
    judge(hostId, client) {
      const judgement = byHost.get(hostId)?.(client);
      return judgement === undefined || judgement.allowed ? undefined : judgement.reason;
    },
  };
};

/** Tells whether a client is one of the administrators' networks, which nothing stops. */
export const compileWhitelist = (networks: readonly string[]): ((client: string) => boolean) => {
  const set = createNetworkSet(networks.map(parseNetwork));
  return (client) => set.has(client);
};
