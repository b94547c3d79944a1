import type { InternalAuthority } from '@sallyport/contract';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Executor, TransactAside } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { INTERNAL_CA_CONTEXT } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import { openSecret } from '../lost-secret.ts';
import { type Authority, describeRoot, issueLeaf, type LeafRequest, makeAuthority } from './authority.ts';
import type { InternalCaStore } from './store.ts';

export interface InternalCaDeps {
  db: Executor;
  transactAside: TransactAside;
  store: (executor: Executor) => InternalCaStore;
  vault: Vault;
  record: RecordChange;
  /** What a root that is made now says whose it is. */
  place: () => Promise<string>;
  clock: () => Date;
}

/** Every device has to be told of another root before this one ends. */
const TOLD_BEFORE_YEARS = 2;
const YEAR_MS = 365.25 * 86_400_000;

/** The authority for names that no public one can reach: a root of this deployment's own, and what it signs. */
export const createInternalCa = ({ db, transactAside, store, vault, record, place, clock }: InternalCaDeps) => {
  const open = ({ root_pem, key_sealed }: { root_pem: string; key_sealed: string }): Authority => ({
    rootPem: root_pem,
    keyPem: openSecret(
      () => vault.open(key_sealed, INTERNAL_CA_CONTEXT),
      'The key of the internal authority',
      'restore a backup that holds it',
    ),
  });

  /** Of several who find none at once, one makes the root: transactions of this kind wait for each other, on all nodes. */
  const openOrMake = async (actor: Actor): Promise<Authority> => {
    const there = await store(db).find();
    if (there) return open(there);
    const made = await makeAuthority(await place(), clock());
    return transactAside(async (tx) => {
      const first = await store(tx).find();
      if (first) return open(first);
      await store(tx).insert({
        root_pem: made.rootPem,
        key_sealed: vault.seal(made.keyPem, INTERNAL_CA_CONTEXT),
        created_at: clock().toISOString(),
      });
      const { subject, sha256, notAfter } = describeRoot(made.rootPem);
      const after = { subject, sha256, not_after: notAfter.toISOString() };
      await record(tx, { action: 'internal_ca.create', actor, resource: 'certificates/internal-ca', after });
      return made;
    });
  };

  const findRoot = async () => {
    const row = await store(db).find();
    if (row) return row;
    throw refuse.notFound(
      'There is no internal authority yet: it is made with the first certificate that is ordered of it',
    );
  };

  const issueOf = (notAfter: Date): string | null => {
    const left = notAfter.getTime() - clock().getTime();
    if (left <= 0) return `The root expired on ${notAfter.toISOString()}: nothing is signed with it any more`;
    return left < TOLD_BEFORE_YEARS * YEAR_MS
      ? `The root expires on ${notAfter.toISOString()}: every device that trusts it needs another one by then`
      : null;
  };

  return {
    /** Signs a certificate of 30 days with a new key; makes the root when there is none. Call it outside of a transaction. */
    async issue(request: LeafRequest, actor: Actor): Promise<{ chainPem: string; keyPem: string }> {
      return issueLeaf(await openOrMake(actor), request, clock());
    },

    /** What is known of the root. Throws a 404 when none was needed so far. */
    async describe(): Promise<InternalAuthority> {
      const { root_pem, created_at } = await findRoot();
      const { subject, sha256, notAfter } = describeRoot(root_pem);
      return { subject, sha256, not_after: notAfter.toISOString(), created_at, issue: issueOf(notAfter) };
    },

    /** The root for whoever is to trust it, PEM. Throws a 404 when none was needed so far. */
    rootPem: async (): Promise<string> => (await findRoot()).root_pem,
  };
};
export type InternalCa = ReturnType<typeof createInternalCa>;
