import type { InternalAuthority, InternalRoot } from '@sallyport/contract';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { InternalCaRow } from '@sallyport/store/database/acme-tables';
import type { Executor, TransactAside } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { INTERNAL_CA_CONTEXT } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import { openSecret, Unusable } from '../lost-secret.ts';
import {
  type Authority,
  checkAuthority,
  describeRoot,
  issueLeaf,
  type LeafRequest,
  makeAuthority,
} from './authority.ts';
import type { InternalCaStore, WhichRoot } from './store.ts';

export interface InternalCaDeps {
  db: Executor;
  transactAside: TransactAside;
  store: (executor: Executor) => InternalCaStore;
  vault: Vault;
  record: RecordChange;
  /** What a root that is made now says whose it is. */
  place: () => Promise<string>;
  /** Has all of its certificates signed anew, by the root that is the active one when the transaction is done. */
  renewAll: (tx: Executor) => Promise<void>;
  /** To be told that they are due. */
  nudge: () => void;
  /** Makes a backup of the store; resolves when it is on disk. */
  backUp: (reason: string) => Promise<unknown>;
  clock: () => Date;
}

/** Every device has to be told of another root before this one ends. */
const TOLD_BEFORE_YEARS = 2;
const YEAR_MS = 365.25 * 86_400_000;
/** What helps when the authority can't sign any more. */
const INSTEAD = 'restore a backup that holds it, or make the next root and let it take over';

/** The authority for names that no public one can reach: a root of this deployment's own, and what it signs. */
export const createInternalCa = (deps: InternalCaDeps) => {
  const { db, transactAside, store, vault, record, place, clock } = deps;
  /** Throws an `Unusable` for one that can sign nothing, with what to do. */
  const open = ({ root_pem: rootPem, key_sealed }: { root_pem: string; key_sealed: string }): Authority => {
    const key = () => vault.open(key_sealed, INTERNAL_CA_CONTEXT);
    const authority = { rootPem, keyPem: openSecret(key, 'The key of the internal authority', INSTEAD) };
    try {
      checkAuthority(authority);
    } catch (error) {
      const what = `The internal authority is stored with a root and a key that do not work (${(error as Error).message})`;
      throw new Unusable(what, INSTEAD, error as Error);
    }
    const { notAfter } = describeRoot(rootPem);
    if (notAfter > clock()) return authority;
    throw new Unusable(`The root of the internal authority expired on ${notAfter.toISOString()}`, INSTEAD);
  };

  const faultOf = (row: { root_pem: string; key_sealed: string }): Unusable | undefined => {
    try {
      open(row);
      return undefined;
    } catch (error) {
      if (error instanceof Unusable) return error;
      throw error;
    }
  };

  const shownRoot = ({ root_pem, created_at }: Pick<InternalCaRow, 'root_pem' | 'created_at'>): InternalRoot => {
    const { subject, sha256, notAfter } = describeRoot(root_pem);
    return { subject, sha256, not_after: notAfter.toISOString(), created_at };
  };

  const toldOf = (row: Pick<InternalCaRow, 'root_pem' | 'created_at'>) => {
    const { created_at: _, ...told } = shownRoot(row);
    return told;
  };

  const insertIn = async (tx: Executor, made: Authority, which: WhichRoot, actor: Actor): Promise<void> => {
    const created_at = clock().toISOString();
    const key_sealed = vault.seal(made.keyPem, INTERNAL_CA_CONTEXT);
    await store(tx).insert({ root_pem: made.rootPem, key_sealed, created_at }, which);
    const action = which === 'active' ? 'internal_ca.create' : 'internal_ca.prepare';
    const after = toldOf({ root_pem: made.rootPem, created_at });
    await record(tx, { action, actor, resource: 'certificates/internal-ca', after });
  };

  /** Of several who find none at once, one makes the root: transactions of this kind wait for each other, on all nodes. */
  const openOrMake = async (actor: Actor): Promise<Authority> => {
    const there = await store(db).find();
    if (there) return open(there);
    const made = await makeAuthority(await place(), clock());
    return transactAside(async (tx) => {
      const first = await store(tx).find();
      if (first) return open(first);
      await insertIn(tx, made, 'active', actor);
      return made;
    });
  };

  const findRoot = async (executor: Executor = db) => {
    const row = await store(executor).find();
    if (row) return row;
    throw refuse.notFound(
      'There is no internal authority yet: it is made with the first certificate that is ordered of it',
    );
  };

  const findNext = async (executor: Executor = db) => {
    const row = await store(executor).find('next');
    if (row) return row;
    throw refuse.notFound('There is no next root: make it first');
  };

  /** The next root, when it is the one that was meant. Throws a 404 when there is none, a 409 when it is another one. */
  const findMeant = async (sha256: string, executor: Executor = db) => {
    const next = await findNext(executor);
    const found = describeRoot(next.root_pem).sha256;
    if (found === sha256.toUpperCase()) return next;
    throw refuse.conflict('The next root is another one than you named', {
      details: `Its fingerprint is ${found}: somebody has made another one since. Compare it with what your devices trust`,
    });
  };

  const issueOf = (row: { root_pem: string; key_sealed: string }, notAfter: Date): string | null => {
    const fault = faultOf(row);
    if (fault) return fault.message;
    return notAfter.getTime() - clock().getTime() < TOLD_BEFORE_YEARS * YEAR_MS
      ? `The root expires on ${notAfter.toISOString()}: make the next root, and have every device trust it before it takes over`
      : null;
  };

  return {
    /** Signs a certificate of 30 days with a new key; makes the root when there is none. Call it outside of a transaction. */
    async issue(request: LeafRequest, actor: Actor): Promise<{ chainPem: string; keyPem: string }> {
      return issueLeaf(await openOrMake(actor), request, clock());
    },

    /** What is known of the root, and of the next one. Throws a 404 when none was needed so far. */
    async describe(): Promise<InternalAuthority> {
      const root = await findRoot();
      const next = await store(db).find('next');
      const shown = shownRoot(root);
      return { ...shown, issue: issueOf(root, new Date(shown.not_after)), next: next ? shownRoot(next) : null };
    },

    /** Makes the root that is to follow: it signs nothing before it takes over. Throws a 404 without one to follow, a 409 when there is one already. */
    async prepare(actor: Actor): Promise<InternalAuthority> {
      const made = await makeAuthority(await place(), clock());
      await transactAside(async (tx) => {
        await findRoot(tx);
        if (await store(tx).find('next')) {
          throw refuse.conflict('There is a next root already: let it take over, or delete it');
        }
        await insertIn(tx, made, 'next', actor);
      });
      return this.describe();
    },

    /** Gives up the next root, of this fingerprint. Throws a 404 when there is none, a 409 when it is another one. */
    drop: (sha256: string, actor: Actor): Promise<void> =>
      transactAside(async (tx) => {
        const before = toldOf(await findMeant(sha256, tx));
        await store(tx).delete('next');
        await record(tx, { action: 'internal_ca.drop', actor, resource: 'certificates/internal-ca', before });
      }),

    /**
     * From now on the next root, of this fingerprint, signs, and all certificates are signed anew by it; the former one is gone, but for a backup that is made before.
     * Throws a 404 without a next one, a 409 for another one and for one that can sign nothing.
     */
    async takeOver(sha256: string, actor: Actor): Promise<InternalAuthority> {
      await findMeant(sha256);
      await deps.backUp('before-root-takeover');
      await transactAside(async (tx) => {
        const next = await findMeant(sha256, tx);
        const fault = faultOf(next);
        if (fault) throw refuse.conflict(fault.what, { details: 'Delete the next root, and make another' });
        const before = toldOf(await findRoot(tx));
        await store(tx).takeOver();
        await deps.renewAll(tx);
        const after = toldOf(next);
        await record(tx, {
          action: 'internal_ca.take_over',
          actor,
          resource: 'certificates/internal-ca',
          before,
          after,
        });
      });
      deps.nudge();
      return this.describe();
    },

    /** The next root, PEM. Throws a 404 when there is none. */
    nextRootPem: async (): Promise<string> => (await findNext()).root_pem,

    /** What keeps it from signing; undefined when nothing does, or when its root is yet to be made. */
    async fault(): Promise<Unusable | undefined> {
      const row = await store(db).find();
      return row && faultOf(row);
    },

    /** The root for whoever is to trust it, PEM. Throws a 404 when none was needed so far. */
    rootPem: async (): Promise<string> => (await findRoot()).root_pem,
  };
};
export type InternalCa = ReturnType<typeof createInternalCa>;
