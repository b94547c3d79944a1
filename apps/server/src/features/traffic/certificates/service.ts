import { randomUUID, X509Certificate } from 'node:crypto';
import type {
  Certificate,
  CertificateInUse,
  CertificateQuery,
  ListedCertificate,
  ReplacedCertificate,
  UploadedCertificate,
} from '@sallyport/contract';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import { refuseInUse, usesOf } from '@sallyport/store/database/host-uses';
import type { Identifier } from '@sallyport/store/database/identifier';
import type { Page } from '@sallyport/store/database/listing';
import type { Executor, Transact, TransactAside } from '@sallyport/store/database/open';
import { Refusal, refuse } from '@sallyport/store/errors';
import type { State } from '@sallyport/store/history/state';
import { anyVersion, type CheckVersion } from '@sallyport/store/object-version';
import { rememberRevoked } from '@sallyport/store/revoked-certificates';
import { certificateKeyContext } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import { keptOf, type NewKeptCertificate } from './kept.ts';
import type { CertificatePair } from './pem.ts';
import { makePlaceholder } from './placeholder.ts';
import { namesInUse, warningsOf } from './replaced-warnings.ts';
import { createReplacing } from './replacing.ts';
import { versionOf } from './source.ts';
import type { CertificateStore, NewCertificate, StoredCertificate } from './store.ts';
import { countUsers, usersOf } from './users.ts';
import { identityOf, revokedWarning, toWire, validityWarning } from './wire.ts';

/** What the service needs of the data plane. */
export interface CertificatePlane {
  /** Resolves when the certificates with these ids are live as stored (or gone), or when it is known why they aren't. */
  syncCertificates(ids: readonly number[]): Promise<void>;
  /** `refused`: HAProxy is there and did not take it. */
  /** `version`: see `versionOf`. */
  certificateState(id: number, version: string): { applied: boolean; issue: string | null; refused?: true };
}

export interface CertificateDeps {
  db: Executor;
  transact: Transact;
  transactAside: TransactAside;
  store: (executor: Executor) => CertificateStore;
  vault: Vault;
  plane: CertificatePlane;
  /** Makes a backup of the store; resolves when it is on disk. */
  backUp: (reason: string) => Promise<unknown>;
  record: RecordChange;
  clock: () => Date;
}

/** A certificate with its key that somebody uploaded. */
export interface GivenPair {
  pair: CertificatePair;
  /** The field of the form that the certificate came in. */
  field: string;
}

export interface CertificateUpload extends GivenPair {
  name: string;
}

/** What a certificate is to be instead; without a pair only its name changes. */
export interface CertificateReplacement {
  name: string | undefined;
  given: GivenPair | undefined;
}

/** A certificate that is to be ordered. */
export interface PlaceholderFields {
  /** Label. */
  name: string;
  /** What `makeStandIn` made for its names. */
  standIn: CertificatePair;
  provider: 'letsencrypt' | 'internal';
}

export const createCertificates = (deps: CertificateDeps) => {
  const { db, transact, transactAside, store, vault, plane, backUp, record, clock } = deps;
  const replacing = createReplacing(deps);

  const shown = async (executor: Executor, certificates: readonly StoredCertificate[]): Promise<Certificate[]> => {
    const keeping = await store(executor).keepingOf(certificates.map(({ id }) => id));
    return certificates.map((certificate) =>
      toWire(
        certificate,
        keeping.get(certificate.id),
        plane.certificateState(certificate.id, versionOf(certificate)),
        clock(),
      ),
    );
  };

  const shownOne = async (executor: Executor, certificate: StoredCertificate): Promise<Certificate> => {
    const [one] = await shown(executor, [certificate]);
    return one as Certificate;
  };

  const findIn = async (executor: Executor, named: Identifier): Promise<StoredCertificate> => {
    const certificate = await store(executor).find(named);
    if (!certificate) throw refuse.notFound('Certificate not found');
    return certificate;
  };

  /** One that is there, not only ordered. */
  const findThere = async (executor: Executor, named: Identifier): Promise<StoredCertificate> => {
    const certificate = await findIn(executor, named);
    if (certificate.is_placeholder === 1) throw refuse.conflict('The certificate is not there yet: it is ordered');
    return certificate;
  };

  /** A certificate with its key, for who has proven anew who they are. Audited. Throws a 409 when the key can't be opened. */
  const handOut = (named: Identifier, actor: Actor): Promise<StoredCertificate & { key_pem: string }> =>
    transactAside(async (tx) => {
      const certificate = await findThere(tx, named);
      const { key_pem } = keptOf(certificate, vault);
      if (key_pem === undefined)
        throw refuse.conflict('Its private key is sealed with a key that is not there any more');
      await record(tx, { action: 'certificate.key_download', actor, resource: `certificates/${certificate.id}` });
      return { ...certificate, key_pem };
    });

  const insertIn = async (
    tx: Executor,
    given: NewCertificate,
    actor: Actor,
    action = 'certificate.upload',
  ): Promise<StoredCertificate> => {
    const after = await store(tx).insert(given);
    const told = { ...identityOf(after), ...(after.is_placeholder === 0 ? { expires_at: after.expires_at } : {}) };
    await record(tx, {
      action,
      actor,
      resource: `certificates/${after.id}`,
      after: told,
      history: [{ resource: `certificates/${after.uuid}`, after: told }],
    });
    return after;
  };

  const rowOf = (
    uuid: string,
    pair: CertificatePair,
    how: { name: string; provider: string; is_placeholder: 0 | 1 },
  ) => ({
    ...how,
    uuid,
    domains: pair.names.join(','),
    chain_pem: pair.chainPem,
    key_sealed: vault.seal(pair.keyPem, certificateKeyContext(uuid)),
    not_before: pair.notBefore.toISOString(),
    expires_at: pair.notAfter.toISOString(),
    created_at: clock().toISOString(),
  });

  /** Throws a 409 that names the hosts that use it. */
  const checkUnused = async (executor: Executor, named: Identifier, checkVersion: CheckVersion) => {
    const certificate = await findIn(executor, named);
    checkVersion(await shownOne(executor, certificate));
    refuseInUse('certificate', usesOf(await usersOf(store(executor), certificate)));
    return certificate;
  };

  const deleteIn = async (
    tx: Executor,
    named: Identifier,
    actor: Actor,
    checkVersion: CheckVersion,
  ): Promise<StoredCertificate> => {
    const before = await checkUnused(tx, named, checkVersion);
    await store(tx).delete(before.id);
    await record(tx, {
      action: 'certificate.delete',
      actor,
      resource: `certificates/${before.id}`,
      before: identityOf(before),
      history: [{ resource: `certificates/${before.uuid}`, before: keptOf(before, vault), secret: ['key_pem'] }],
    });
    return before;
  };

  return {
    /** The same changes in a transaction of the caller, who makes a backup before a removal and syncs afterwards. */
    within: {
      backUp,
      create: (tx: Executor, { key_pem, ...rest }: NewKeptCertificate, actor: Actor) =>
        insertIn(tx, { ...rest, key_sealed: vault.seal(key_pem, certificateKeyContext(rest.uuid)) }, actor),
      remove: (tx: Executor, named: Identifier, actor: Actor) => deleteIn(tx, named, actor, anyVersion),

      /** A certificate as the history compares it. */
      async current(tx: Executor, named: Identifier): Promise<object | undefined> {
        const certificate = await store(tx).find(named);
        return certificate && keptOf(certificate, vault);
      },

      /** Gives a certificate back what a change took. Throws a 409 when that was not kept. */
      takeBack: async (tx: Executor, named: Identifier, fields: State, actor: Actor): Promise<StoredCertificate> =>
        replacing.takenBack(tx, await findIn(tx, named), fields, actor),

      /** Notes that the authority has revoked a certificate, with why. Returns the ids of those that are there of it: none once another one has its place. */
      async noteRevoked(
        tx: Executor,
        certificate: Pick<
          StoredCertificate,
          'id' | 'uuid' | 'name' | 'provider' | 'domains' | 'chain_pem' | 'expires_at'
        >,
        reason: string,
        actor: Actor,
      ): Promise<number[]> {
        const { id, chain_pem, expires_at } = certificate;
        const ids = await rememberRevoked(tx, chain_pem, clock().toISOString());
        const { serialNumber, fingerprint256 } = new X509Certificate(chain_pem);
        const after = { ...identityOf(certificate), expires_at, serial: serialNumber, sha256: fingerprint256, reason };
        await record(tx, { action: 'certificate.revoke', actor, resource: `certificates/${id}`, after });
        return ids;
      },

      /** Puts what an authority gave in the place of what is there. Throws a `Refusal`, as `issued` of `replacing.ts`. */
      replace: async (
        tx: Executor,
        id: number,
        pair: Pick<CertificatePair, 'chainPem' | 'keyPem'>,
        actor: Actor,
      ): Promise<StoredCertificate> => replacing.issued(tx, await findIn(tx, id), pair, actor),

      /** A certificate that is ordered, with what stands in for it until it is there: see `makeStandIn`. */
      createPlaceholder: (
        tx: Executor,
        { name, standIn, provider }: PlaceholderFields,
        actor: Actor,
      ): Promise<StoredCertificate> =>
        insertIn(tx, rowOf(randomUUID(), standIn, { name, provider, is_placeholder: 1 }), actor, 'certificate.order'),
    },

    /** A self-signed certificate of these names, normalised DNS names and addresses. It takes milliseconds: call it outside of a transaction, which all others wait for. */
    makeStandIn: (names: readonly string[]): Promise<CertificatePair> => makePlaceholder(names, clock()),

    async list(query: CertificateQuery): Promise<Page<ListedCertificate>> {
      const page = await store(db).page(query);
      const used = await countUsers(store(db), page.rows);
      const rows = (await shown(db, page.rows)).map((one) => ({ ...one, used_by_total: used.get(one.id) ?? 0 }));
      return { ...page, rows };
    },

    /** A certificate with the hosts that are served with it. Throws a 404. */
    async get(named: Identifier): Promise<CertificateInUse> {
      const certificate = await findIn(db, named);
      return { ...(await shownOne(db, certificate)), ...usesOf(await usersOf(store(db), certificate)) };
    },

    /** Stores an uploaded certificate and hands it to the proxy. */
    async upload({ name, pair }: CertificateUpload, actor: Actor): Promise<Certificate & UploadedCertificate> {
      const row = rowOf(randomUUID(), pair, { name, provider: 'custom', is_placeholder: 0 });
      const certificate = await transact((tx) => insertIn(tx, row, actor));
      await plane.syncCertificates([certificate.id]);
      const { applied, issue } = plane.certificateState(certificate.id, versionOf(certificate));
      const warnings = [
        applied ? undefined : `The proxy lacks it: ${issue}`,
        revokedWarning(certificate),
        validityWarning(certificate, clock()),
      ];
      const warning = warnings.filter((text) => text !== undefined).join('. ');
      return { ...(await shownOne(db, certificate)), ...(warning === '' ? {} : { warning }) };
    },

    /**
     * Puts another pair in the place of a certificate, or calls it something else. When HAProxy does not take it, the former one stays,
     * and its order. Throws a 400 for that, a 404, a 412.
     */
    async replace(
      named: Identifier,
      { name, given }: CertificateReplacement,
      actor: Actor,
      checkVersion = anyVersion,
    ): Promise<ReplacedCertificate> {
      const { after, warnings, undo } = await transact(async (tx) => {
        const before = await findIn(tx, named);
        checkVersion(await shownOne(tx, before));
        if (!given) {
          const renamed = name === undefined ? before : await replacing.renamed(tx, before, name, actor);
          return { after: renamed, warnings: [], undo: undefined };
        }
        const used = await namesInUse(store(tx), before);
        const replaced = await replacing.given(tx, before, { name, pair: given.pair }, actor);
        return { ...replaced, warnings: await warningsOf(store(tx), { ...replaced, used, now: clock() }) };
      });
      await plane.syncCertificates([after.id]);
      const { refused, issue } = plane.certificateState(after.id, versionOf(after));
      if (refused && undo) {
        if (await transact((tx) => undo(tx))) await plane.syncCertificates([after.id]);
        throw refuse.invalid(`${given?.field} was not taken by the proxy; the former certificate stays`, {
          ...(issue === null ? {} : { details: issue }),
        });
      }
      return { ...(await shownOne(db, after)), warnings };
    },

    /** A certificate with its key, unless that is lost. Throws a 404, and a 409 while there is only one that stands in. */
    open: async (named: Identifier): Promise<ReturnType<typeof keptOf>> => keptOf(await findThere(db, named), vault),

    /** The chain, PEM. Throws a 404, and a 409 while there is only one that stands in. */
    async download(named: Identifier): Promise<{ filename: string; pem: string }> {
      const { id, chain_pem } = await findThere(db, named);
      return { filename: `certificate-${id}.pem`, pem: chain_pem };
    },

    /** The chain and its key, PEM; for who has proven anew who they are. Audited. */
    async downloadKey(named: Identifier, actor: Actor): Promise<{ filename: string; pem: string }> {
      const { id, chain_pem, key_pem } = await handOut(named, actor);
      return { filename: `certificate-${id}-with-key.pem`, pem: `${chain_pem.trimEnd()}\n${key_pem}` };
    },

    /** The same as a PKCS #12 with a password of its own: see `writePkcs12`. */
    async downloadPkcs12(
      named: Identifier,
      password: string,
      actor: Actor,
    ): Promise<{ filename: string; bytes: Buffer }> {
      const { id, name, chain_pem, key_pem } = await handOut(named, actor);
      const { writePkcs12 } = await import('./pkcs12/write.ts');
      const bytes = writePkcs12({ name, chainPem: chain_pem, keyPem: key_pem }, password);
      return { filename: `certificate-${id}.p12`, bytes };
    },

    /** Deletes a certificate that no host uses, after a backup; its files go with it (spec, Certificates). */
    async remove(named: Identifier, actor: Actor, checkVersion = anyVersion): Promise<void> {
      const { id } = await checkUnused(db, named, checkVersion);
      try {
        await backUp('before-certificate-delete');
        await transact((tx) => deleteIn(tx, id, actor, checkVersion));
      } catch (error) {
        if (error instanceof Refusal) throw error;
        throw refuse.failed('failed to delete certificate', { cause: error });
      }
      await plane.syncCertificates([id]);
    },
  };
};
export type Certificates = ReturnType<typeof createCertificates>;
