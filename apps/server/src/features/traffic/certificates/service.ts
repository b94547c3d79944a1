import { randomUUID } from 'node:crypto';
import type { Certificate, CertificateInUse, HostUses, ListQuery, UploadedCertificate } from '@sallyport/contract';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import { refuseInUse, usesOf } from '@sallyport/store/database/host-uses';
import type { Identifier } from '@sallyport/store/database/identifier';
import type { Page } from '@sallyport/store/database/listing';
import type { Executor, Transact } from '@sallyport/store/database/open';
import { Refusal, refuse } from '@sallyport/store/errors';
import { anyVersion, type CheckVersion } from '@sallyport/store/object-version';
import { certificateKeyContext } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import { parseCertificatePair } from './pem.ts';
import type { CertificateStore, StoredCertificate } from './store.ts';
import { createBestMatch } from './usage.ts';
import { identityOf, toWire, validityWarning } from './wire.ts';

/** What the service needs of the data plane. */
export interface CertificatePlane {
  /** Resolves when the certificates with these ids are live as stored (or gone), or when it is known why they aren't. */
  syncCertificates(ids: readonly number[]): Promise<void>;
  certificateState(id: number): { applied: boolean; issue: string | null };
}

export interface CertificateDeps {
  db: Executor;
  transact: Transact;
  store: (executor: Executor) => CertificateStore;
  vault: Vault;
  plane: CertificatePlane;
  /** Makes a backup of the store; resolves when it is on disk. */
  backUp: (reason: string) => Promise<unknown>;
  record: RecordChange;
  clock: () => Date;
}

export interface CertificateUpload {
  name: string;
  certificatePem: string;
  keyPem: string;
}

/** A certificate as the history keeps it. */
export type KeptCertificate = Omit<StoredCertificate, 'key_sealed'> & { key_pem: string };

export const createCertificates = (deps: CertificateDeps) => {
  const { db, transact, store, vault, plane, backUp, record, clock } = deps;

  const shown = async (executor: Executor, certificates: readonly StoredCertificate[]): Promise<Certificate[]> => {
    const keeping = await store(executor).keepingOf(certificates.map(({ id }) => id));
    return certificates.map((certificate) =>
      toWire(certificate, keeping.get(certificate.id), plane.certificateState(certificate.id), clock()),
    );
  };

  const shownOne = async (executor: Executor, certificate: StoredCertificate): Promise<Certificate> => {
    const [one] = await shown(executor, [certificate]);
    return one as Certificate;
  };

  /** All that brings it back; without the key when that is sealed with one that is lost, which must not keep it here. */
  const kept = ({ key_sealed, ...certificate }: StoredCertificate): object => {
    try {
      return { ...certificate, key_pem: vault.open(key_sealed, certificateKeyContext(certificate.uuid)) };
    } catch {
      return certificate;
    }
  };

  const findIn = async (executor: Executor, named: Identifier): Promise<StoredCertificate> => {
    const certificate = await store(executor).find(named);
    if (!certificate) throw refuse.notFound('Certificate not found');
    return certificate;
  };

  /** Hosts that name a certificate, and those it is served for because it is the best match of one of their names. */
  const usersOf = async (executor: Executor, { id, domains }: StoredCertificate): Promise<HostUses['used_by']> => {
    const users = new Map((await store(executor).chosenBy(id)).map((host) => [host.id, host]));
    const left = await store(executor).namesLeftToUs(domains.split(','));
    if (left.length > 0) {
      const bestMatch = createBestMatch(await store(executor).names());
      for (const { name, ...host } of left) if (bestMatch(name)?.id === id) users.set(host.id, host);
    }
    return [...users.values()];
  };

  const insertIn = async (
    tx: Executor,
    given: Omit<StoredCertificate, 'id'> & { id?: number },
    actor: Actor,
  ): Promise<StoredCertificate> => {
    const after = await store(tx).insert(given);
    const told = { ...identityOf(after), expires_at: after.expires_at };
    await record(tx, {
      action: 'certificate.upload',
      actor,
      resource: `certificates/${after.id}`,
      after: told,
      history: [{ resource: `certificates/${after.uuid}`, after: told }],
    });
    return after;
  };

  /** Throws a 409 that names the hosts that use it. */
  const checkUnused = async (executor: Executor, named: Identifier, checkVersion: CheckVersion) => {
    const certificate = await findIn(executor, named);
    checkVersion(await shownOne(executor, certificate));
    refuseInUse('certificate', usesOf(await usersOf(executor, certificate)));
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
      history: [{ resource: `certificates/${before.uuid}`, before: kept(before), secret: ['key_pem'] }],
    });
    return before;
  };

  return {
    /** The same changes in a transaction of the caller, who makes a backup before a removal and syncs afterwards. */
    within: {
      backUp,
      create: (tx: Executor, { key_pem, ...rest }: KeptCertificate, actor: Actor) =>
        insertIn(tx, { ...rest, key_sealed: vault.seal(key_pem, certificateKeyContext(rest.uuid)) }, actor),
      remove: (tx: Executor, named: Identifier, actor: Actor) => deleteIn(tx, named, actor, anyVersion),
    },

    async list(query: ListQuery): Promise<Page<Certificate>> {
      const page = await store(db).page(query);
      return { ...page, rows: await shown(db, page.rows) };
    },

    /** A certificate with the hosts that are served with it. Throws a 404. */
    async get(named: Identifier): Promise<CertificateInUse> {
      const certificate = await findIn(db, named);
      return { ...(await shownOne(db, certificate)), ...usesOf(await usersOf(db, certificate)) };
    },

    /** Checks and stores an uploaded certificate and hands it to the proxy. Throws a 400 that names the file. */
    async upload(
      { name, certificatePem, keyPem }: CertificateUpload,
      actor: Actor,
    ): Promise<Certificate & UploadedCertificate> {
      const pair = parseCertificatePair(certificatePem, keyPem);
      const uuid = randomUUID();
      const now = clock();
      const certificate = await transact((tx) => {
        const fields = {
          uuid,
          name,
          provider: 'custom',
          domains: pair.names.join(','),
          chain_pem: pair.chainPem,
          key_sealed: vault.seal(pair.keyPem, certificateKeyContext(uuid)),
          not_before: pair.notBefore.toISOString(),
          expires_at: pair.notAfter.toISOString(),
          is_placeholder: 0,
          created_at: now.toISOString(),
        };
        return insertIn(tx, fields, actor);
      });
      await plane.syncCertificates([certificate.id]);
      const { applied, issue } = plane.certificateState(certificate.id);
      const warnings = [applied ? undefined : `The proxy lacks it: ${issue}`, validityWarning(certificate, now)];
      const warning = warnings.filter((text) => text !== undefined).join('. ');
      return { ...(await shownOne(db, certificate)), ...(warning === '' ? {} : { warning }) };
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
