import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import type { State } from '@sallyport/store/history/state';
import { certificateKeyContext } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import { type KeptCertificate, keptOf } from './kept.ts';
import { type CertificatePair, parseCertificatePair } from './pem.ts';
import type { CertificateStore, StoredCertificate } from './store.ts';
import { isCovered } from './usage.ts';
import { identityOf } from './wire.ts';

export interface ReplacingDeps {
  store: (executor: Executor) => CertificateStore;
  vault: Vault;
  record: RecordChange;
  clock: () => Date;
}

/** What the history keeps of a replacement that need not be taken back: a renewal. */
const shortly = ({ domains, not_before, expires_at, is_placeholder }: StoredCertificate) => ({
  domains,
  ...(is_placeholder === 0 ? { not_before, expires_at } : {}),
});

const told = (certificate: StoredCertificate) => ({
  ...identityOf(certificate),
  expires_at: certificate.expires_at,
});

/** What was revoked does not come back by taking a change back. */
export const REVOKED = 'The certificate of before was revoked: order another one, or upload one in its place';

/** What came of a pair that somebody gave. */
export interface Given {
  before: StoredCertificate;
  after: StoredCertificate;
  wasOrdered: boolean;
  undo: (tx: Executor) => Promise<boolean>;
}

/** Puts other chains and keys in the place of what is there: the row stays, and with it all that points at it. */
export const createReplacing = ({ store, vault, record, clock }: ReplacingDeps) => {
  const put = (tx: Executor, { id, uuid }: StoredCertificate, pair: CertificatePair, more: object = {}) =>
    store(tx).replace(id, {
      ...more,
      domains: pair.names.join(','),
      chain_pem: pair.chainPem,
      key_sealed: vault.seal(pair.keyPem, certificateKeyContext(uuid)),
      not_before: pair.notBefore.toISOString(),
      expires_at: pair.notAfter.toISOString(),
      is_placeholder: 0,
    });

  const recorded = (tx: Executor, after: StoredCertificate, before: StoredCertificate, actor: Actor) => ({
    /** With the old chain and key, so that it can be taken back. */
    whole: (action: string) =>
      record(tx, {
        action,
        actor,
        resource: `certificates/${after.id}`,
        before: told(before),
        after: told(after),
        history: [
          {
            resource: `certificates/${after.uuid}`,
            before: keptOf(before, vault),
            after: keptOf(after, vault),
            secret: ['key_pem'],
          },
        ],
      }),
    /** A thousand renewals must not push what people changed out of the history, nor leave a thousand old keys in it. */
    shortly: (action: string) =>
      record(tx, {
        action,
        actor,
        resource: `certificates/${after.id}`,
        before: told(before),
        after: told(after),
        history: [{ resource: `certificates/${after.uuid}`, before: shortly(before), after: shortly(after) }],
      }),
  });

  return {
    /**
     * Takes what an authority gave for the order of a certificate. Throws a `Refusal` when nobody orders it any more, when
     * the pair does not fit, names less than was ordered or has expired.
     */
    async issued(
      tx: Executor,
      before: StoredCertificate,
      { chainPem, keyPem }: Pick<CertificatePair, 'chainPem' | 'keyPem'>,
      actor: Actor,
    ): Promise<StoredCertificate> {
      const ordered = await store(tx).orderedNames(before.id);
      if (ordered === undefined) throw refuse.conflict('The certificate is not ordered any more');
      const pair = parseCertificatePair(chainPem, keyPem);
      const missing = ordered.filter((name) => !isCovered(pair.names, name));
      if (missing.length > 0) throw refuse.invalid(`certificate_file does not name ${missing.join(', ')}`);
      if (pair.notAfter <= clock()) {
        throw refuse.invalid(`certificate_file expired on ${pair.notAfter.toISOString()}`);
      }
      const after = await put(tx, before, pair);
      const action = before.is_placeholder === 1 ? 'certificate.issue' : 'certificate.renew';
      await recorded(tx, after, before, actor).shortly(action);
      return after;
    },

    /**
     * Puts a pair that somebody gave in its place: from now on it is a custom one that nobody renews. `undo` puts back what was there,
     * with its order, unless it was changed since; it tells whether it did.
     */
    async given(
      tx: Executor,
      before: StoredCertificate,
      { name = before.name, pair }: { name?: string | undefined; pair: CertificatePair },
      actor: Actor,
    ): Promise<Given> {
      const order = await store(tx).endOrder(before.id);
      const after = await put(tx, before, pair, { name, provider: 'custom' });
      await recorded(tx, after, before, actor).whole('certificate.replace');
      const undo = async (later: Executor): Promise<boolean> => {
        const now = await store(later).find(before.id);
        if (now?.chain_pem !== after.chain_pem || now.key_sealed !== after.key_sealed) return false;
        const { id, uuid, created_at, ...fields } = before;
        const back = await store(later).replace(id, fields);
        if (order) await store(later).restoreOrder(order);
        await recorded(later, back, now, actor).whole('certificate.replace');
        return true;
      };
      return { before, after, wasOrdered: order !== undefined, undo };
    },

    /** Calls it something else. */
    async renamed(tx: Executor, before: StoredCertificate, name: string, actor: Actor): Promise<StoredCertificate> {
      const after = await store(tx).rename(before.id, name);
      await recorded(tx, after, before, actor).whole('certificate.rename');
      return after;
    },

    /** Gives it back what a replacement took: `fields` of before it. Throws a 409 when that was not kept. */
    async takenBack(tx: Executor, before: StoredCertificate, fields: State, actor: Actor): Promise<StoredCertificate> {
      const was = fields as Partial<Omit<KeptCertificate, 'key_pem'> & { key_pem: string | null }>;
      if (was.is_placeholder === 1) throw refuse.conflict('There was no certificate before: it had only been ordered');
      if (was.chain_pem === undefined && was.name !== undefined) return this.renamed(tx, before, was.name, actor);
      if (was.chain_pem === undefined) {
        throw refuse.conflict(
          'What a renewal replaced is not kept: renew it again, or upload another one in its place',
        );
      }
      const key = was.key_pem === undefined ? keptOf(before, vault).key_pem : was.key_pem;
      if (!key) throw refuse.conflict('Its private key was not kept, for it could not be opened any more');
      const pair = parseCertificatePair(was.chain_pem, key);
      const { after } = await this.given(tx, before, { name: was.name, pair }, actor);
      if (after.revoked_at !== null) throw refuse.conflict(REVOKED);
      return after;
    },
  };
};
