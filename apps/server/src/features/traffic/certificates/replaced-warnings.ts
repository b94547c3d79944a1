import type { Warning } from '@sallyport/contract';
import type { CertificateStore, StoredCertificate } from './store.ts';
import { createBestMatch, isCovered } from './usage.ts';
import { usersOf } from './users.ts';
import { revokedWarning, validityWarning } from './wire.ts';

const MAX_NAMED = 5;

const some = (names: readonly string[]): string =>
  names.length <= MAX_NAMED
    ? names.join(', ')
    : `${names.slice(0, MAX_NAMED).join(', ')} and ${names.length - MAX_NAMED} more`;

/** Names of hosts that a certificate is served for and covers. */
export const namesInUse = async (store: CertificateStore, certificate: StoredCertificate): Promise<string[]> => {
  const covered = certificate.domains.split(',');
  const hosts = await usersOf(store, certificate);
  return [...new Set(hosts.flatMap(({ domain }) => domain.split(',')))].filter((name) => isCovered(covered, name));
};

export interface Replaced {
  before: StoredCertificate;
  after: StoredCertificate;
  /** An order has ended with it. */
  wasOrdered: boolean;
  /** What `namesInUse` said before. */
  used: readonly string[];
  now: Date;
}

/** What is different for hosts and operators since a certificate was replaced, in words. */
export const warningsOf = async (
  store: CertificateStore,
  { after, wasOrdered, used, now }: Replaced,
): Promise<Warning[]> => {
  const covered = after.domains.split(',');
  const lost = used.filter((name) => !isCovered(covered, name));
  const bestMatch = lost.length > 0 ? createBestMatch(await store.names()) : () => undefined;
  const bare = lost.filter((name) => bestMatch(name) === undefined);
  const messages = [
    lost.length > 0 ? `it does not cover ${some(lost)} any more, which proxy hosts use` : undefined,
    bare.length > 0 ? `no other certificate covers ${some(bare)}` : undefined,
    revokedWarning(after),
    validityWarning(after, now),
  ];
  const warnings = messages
    .filter((message) => message !== undefined)
    .map((message) => ({ field: 'domains', message }));
  const message = 'it was ordered and is a custom one now: nobody renews it any more';
  return wasOrdered ? [...warnings, { field: 'provider', message }] : warnings;
};
