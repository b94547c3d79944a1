import { isIP } from 'node:net';
import type { NewProxyHost, ProxyHostFields, ProxyHostPatch } from '@sallyport/contract';
import { PROXY_HOST_DEFAULTS } from '@sallyport/contract';
import type { Actor } from '@sallyport/store/actor';
import { refuse } from '@sallyport/store/errors';
import { checkNew, isStandardUser } from './administrators-part.ts';
import type { References } from './many.ts';
import { checkVerification, type Normalised, normalise } from './normalise.ts';
import type { StoredProxyHost } from './store.ts';

const REFERENCES = {
  remote_server_id: { table: 'remote_servers', what: 'remote server' },
  certificate_id: { table: 'certificates', what: 'certificate' },
  access_list_id: { table: 'access_lists', what: 'access list' },
} as const;
type Reference = keyof typeof REFERENCES;

const ORIGIN_FIELDS = ['forward_host', 'forward_port', 'forward_reserved'] as const;

/** What a caller refers to by id or uuid, by id; called inside the transaction, so that it can't go meanwhile. Throws a 400. */
export const resolveReferences = async (
  hosts: References,
  patch: ProxyHostPatch,
): Promise<Partial<ProxyHostFields>> => {
  const resolved: Partial<Record<Reference, number | null>> = {};
  for (const field of Object.keys(REFERENCES) as Reference[]) {
    const named = patch[field];
    if (named === undefined) continue;
    const { table, what } = REFERENCES[field];
    const id = named === null ? null : await hosts.idOf(table, typeof named === 'string' ? named.toLowerCase() : named);
    if (id === undefined) throw refuse.invalid(`${field} names no ${what}`);
    resolved[field] = id;
  }
  return { ...patch, ...resolved } as Partial<ProxyHostFields>;
};

export interface CompleteDeps {
  /** Why nothing may be forwarded there, unless an administrator allows it; undefined: it may. */
  reservedOrigin: (address: string, port: number) => string | undefined;
}

/** What makes all fields of a host of those that a caller gives, and what has to hold between them. */
export const createComplete = ({ reservedOrigin }: CompleteDeps) => {
  /** Names are judged when they are looked up; an address, here already, so that the caller learns of it at once. */
  const checkOrigin = ({ forward_host, forward_port, forward_reserved }: ProxyHostFields): void => {
    if (forward_reserved || isIP(forward_host) === 0) return;
    const reason = reservedOrigin(forward_host, forward_port);
    if (reason === undefined) return;
    throw refuse.invalid(`forward_host is ${reason}: an administrator can allow it with forward_reserved`);
  };

  /** What has to go together. Throws a 400. */
  const checkWhole = (before: StoredProxyHost, after: StoredProxyHost): void => {
    checkVerification(after);
    // What is stored may be older than the rule, and is not served: it can still be named, or switched off.
    if (ORIGIN_FIELDS.some((field) => after[field] !== before[field])) checkOrigin(after);
  };

  return {
    checkWhole,

    /** All fields of a changed host, by what is checked of a single change. Throws a `Refusal`. */
    async completePatch(hosts: References, before: StoredProxyHost, fields: ProxyHostPatch): Promise<StoredProxyHost> {
      const after: StoredProxyHost = { ...before, ...(await resolveReferences(hosts, fields)) };
      checkWhole(before, after);
      return after;
    },

    /** All fields of a new host. Throws a `Refusal` for those that do not go together. */
    async completeNew(hosts: References, fields: NewProxyHost, actor: Actor): Promise<ProxyHostFields> {
      const given = await resolveReferences(hosts, fields);
      if (isStandardUser(actor)) checkNew(given);
      const complete = { ...PROXY_HOST_DEFAULTS, ...given } as ProxyHostFields;
      checkVerification(complete);
      checkOrigin(complete);
      return complete;
    },

    /** A new host as it would be stored, without looking at others. Throws a `Refusal` when it could not be. */
    wouldBe(input: NewProxyHost): Normalised<NewProxyHost> {
      const normalised = normalise(input);
      const complete = { ...PROXY_HOST_DEFAULTS, ...normalised.fields } as ProxyHostFields;
      checkVerification(complete);
      checkOrigin(complete);
      return normalised;
    },
  };
};
export type Complete = ReturnType<typeof createComplete>;
