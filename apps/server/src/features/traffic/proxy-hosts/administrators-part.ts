import { isDeepStrictEqual } from 'node:util';
import { PROXY_HOST_DEFAULTS, PROXY_HOST_PROTECTION, type ProxyHostPatch } from '@sallyport/contract';
import type { Actor } from '@sallyport/store/actor';
import { refuse } from '@sallyport/store/errors';
import type { ProxyHostStore, StoredProxyHost } from './store.ts';

/** Whether the caller manages routes only: what protects a host is then not theirs to change. */
export const isStandardUser = ({ identity }: Actor): boolean => identity.kind === 'user' && identity.role !== 'admin';

const defaults: Readonly<Record<string, unknown>> = PROXY_HOST_DEFAULTS;

/**
 * Fields that protect and differ from what any new host gets: an administrator chose them for this one. Not what lets its origin
 * be a reserved one, as every old host on this machine has it: it keeps nobody out, and a new host would not have it.
 */
const chosenFields = (host: StoredProxyHost): string[] =>
  PROXY_HOST_PROTECTION.filter(
    (field) => field !== 'forward_reserved' && !isDeepStrictEqual(host[field], defaults[field]),
  );

const refuseField = (field: string) =>
  refuse.forbidden('Admin access required', {
    details: `${field} protects the host: only an administrator may change it`,
  });

/** Throws a 403 when a standard user's new host is to be protected otherwise than every new host is. */
export const checkNew = (fields: ProxyHostPatch): void => {
  for (const field of PROXY_HOST_PROTECTION) {
    if (fields[field] !== undefined && !isDeepStrictEqual(fields[field], defaults[field])) throw refuseField(field);
  }
};

/**
 * Throws a 403 when a standard user's patch changes a field that protects, or gets round one: by taking a name away from a
 * host that an administrator protects (a new host could have it without), or by pointing a host elsewhere that may reach what
 * others may not.
 */
export const checkPatch = (
  before: StoredProxyHost,
  patch: ProxyHostPatch,
  names: readonly string[] | undefined,
): void => {
  for (const field of PROXY_HOST_PROTECTION) {
    if (patch[field] !== undefined && !isDeepStrictEqual(patch[field], before[field])) throw refuseField(field);
  }
  const chosen = chosenFields(before);
  if (chosen.length > 0 && names && before.domain.split(',').some((name) => !names.includes(name))) {
    throw refuse.forbidden('Admin access required', {
      details: `this host has ${chosen.join(', ')} from an administrator: only one may take a name away from it`,
    });
  }
  const isMoved =
    (patch.forward_host !== undefined && patch.forward_host !== before.forward_host) ||
    (patch.forward_port !== undefined && patch.forward_port !== before.forward_port);
  if (before.forward_reserved && isMoved) throw refuseField('forward_reserved');
};

/** Throws a 403 when a standard user would delete a host that an administrator protects: its name would be free again. */
export const checkDeletion = (host: StoredProxyHost): void => {
  const chosen = chosenFields(host);
  if (chosen.length === 0) return;
  throw refuse.forbidden('Admin access required', {
    details: `this host has ${chosen.join(', ')} from an administrator: only one may delete it`,
  });
};

/** Throws a 403 when one of a standard user's names would be taken out of a wildcard host that an administrator protects. */
export const refuseUnderGuardedWildcard = async (hosts: ProxyHostStore, names: readonly string[]): Promise<void> => {
  const wildcards = names.filter((name) => !name.startsWith('*.')).map((name) => name.replace(/^[^.]+/, '*'));
  if (wildcards.length === 0) return;
  for (const { name, uuid } of await hosts.ownersOf(wildcards, null)) {
    const host = await hosts.find(uuid);
    const chosen = host ? chosenFields(host) : [];
    if (chosen.length === 0) continue;
    throw refuse.forbidden('Admin access required', {
      details: `${name} has ${chosen.join(', ')} from an administrator: only one may take a name out of it`,
    });
  }
};
