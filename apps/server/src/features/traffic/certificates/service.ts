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

const identity = ({ id, uuid, name, provider, domains }: StoredCertificate) => ({
  id,
  uuid,
  name,
  provider: provider as Certificate['provider'],
  domains,
});

const validityWarning = (certificate: StoredCertificate, now: Date): string | undefined => {
  if (new Date(certificate.expires_at) <= now) return `The certificate expired on ${certificate.expires_at}`;
  if (new Date(certificate.not_before) > now) return `The certificate is not valid before ${certificate.not_before}`;
  return undefined;
};

/** A certificate as the history keeps it. */
export type KeptCertificate = Omit<StoredCertificate, 'key_sealed'> & { key_pem: string };

export const createCertificates = (deps: CertificateDeps) => {
  const { db, transact, store, vault, plane, backUp, record, clock } = deps;

  const toWire = (certificate: StoredCertificate): Certificate => {
    const state = plane.certificateState(certificate.id);
    return {
      ...identity(certificate),
      expires_at: certificate.expires_at,
      created_at: certificate.created_at,
      applied: state.applied,
      issue: state.issue ?? validityWarning(certificate, clock()) ?? null,
    };
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
    const shown = { ...identity(after), expires_at: after.expires_at };
    await record(tx, {
      action: 'certificate.upload',
      actor,
      resource: `certificates/${after.id}`,
      after: shown,
      history: [{ resource: `certificates/${after.uuid}`, after: shown }],
    });
    return after;
  };

  /** Throws a 409 that names the hosts that use it. */
  const checkUnused = async (executor: Executor, named: Identifier, checkVersion: CheckVersion) => {
    const certificate = await findIn(executor, named);
    checkVersion(toWire(certificate));
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
      before: identity(before),
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
      return { ...page, rows: page.rows.map(toWire) };
    },

    /** A certificate with the hosts that are served with it. Throws a 404. */
    async get(named: Identifier): Promise<CertificateInUse> {
      const certificate = await findIn(db, named);
      return { ...toWire(certificate), ...usesOf(await usersOf(db, certificate)) };
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
          created_at: now.toISOString(),
        };
        return insertIn(tx, fields, actor);
      });
      await plane.syncCertificates([certificate.id]);
      const { applied, issue } = plane.certificateState(certificate.id);
      const warnings = [applied ? undefined : `The proxy lacks it: ${issue}`, validityWarning(certificate, now)];
      const warning = warnings.filter((text) => text !== undefined).join('. ');
      return { ...toWire(certificate), ...(warning === '' ? {} : { warning }) };
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
