import { hash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { certificateFile, certificateId, dataPlaneFiles, inDirectory } from '../config/layout.ts';
import { writeFileAtomically } from '../files/atomic-file.ts';
import { InvalidCertificate, normalizeCertificatePem } from '../files/certificate-pem.ts';
import type { CertificateChange, DesiredCertificate } from '../model/desired.ts';
import { createTlsEntries, type HostTls, type TlsTarget } from '../reconcile/tls-entries.ts';
import { type AppliedTlsLine, groupIntoLines, planTlsLines } from '../reconcile/tls-lines.ts';
import { type CertificateCommands, crtListLine } from '../runtime/certificates.ts';
import { RuntimeRefused } from '../runtime/runtime-errors.ts';

export type TlsPlaneOptions = {
  directory: string;
  commands: CertificateCommands;
  /** Largest certificate, chain and key that the runtime API takes in one payload. */
  maxPemBytes: number;
};

type Held = Pick<DesiredCertificate, 'id' | 'names' | 'notAfter'> & {
  fingerprint: string;
  digest: string;
  /** Digest of what it was made from, to know it again without reading it. */
  source: string;
};

type Exclusively = <T>(task: () => Promise<T>) => Promise<T>;
type How = { live: Live; exclusively: Exclusively };

const idOf = (change: CertificateChange): number => (change.type === 'put' ? change.certificate.id : change.id);

const storeOf = ({ certificate }: TlsTarget): string =>
  certificate === null ? dataPlaneFiles.defaultCertificate : certificateFile(certificate);

const refusalOf = ({ reply }: RuntimeRefused): string => `HAProxy refused it: ${reply.trim()}`;

/** Runs a task against HAProxy unless it is known to be unreachable. */
type Live = (task: () => Promise<unknown>) => Promise<void>;

/** Keeps certificates and the certificate list, files and HAProxy, at the intended contents. The caller serialises. */
export const createTlsPlane = ({ directory, commands, maxPemBytes }: TlsPlaneOptions) => {
  const held = new Map<number, Held>();
  const refused = new Map<number, string>();
  /** Certificates that changes have come to since all were intended. */
  const overtaken = new Set<number>();
  const entries = createTlsEntries();

  const check = (certificate: DesiredCertificate): { pem: string; held: Held } => {
    const { pem, fingerprint } = normalizeCertificatePem(certificate.pem);
    if (pem.length > maxPemBytes) {
      throw new InvalidCertificate(`certificate, chain and key are larger than ${maxPemBytes} bytes`);
    }
    const { id, names, notAfter } = certificate;
    const source = hash('sha256', certificate.pem);
    return { pem, held: { id, names, notAfter, fingerprint, digest: hash('sha256', pem), source } };
  };

  const writeCrtList = (): Promise<void> => {
    const lines = groupIntoLines(entries.entries).map((line) =>
      crtListLine({ store: storeOf(line.target), isHttp1Only: !line.target.http2, names: line.names }),
    );
    // The first line answers for every name that no line has.
    const text = `${[dataPlaneFiles.defaultCertificate, ...lines].join('\n')}\n`;
    return writeFileAtomically(inDirectory(directory, dataPlaneFiles.crtList), [text], { durable: true });
  };

  const appliedLines = async (): Promise<AppliedTlsLine[]> =>
    (await commands.lines())
      .filter(({ store, names }) => store !== dataPlaneFiles.defaultCertificate || names.length > 0)
      .map(({ store, number, isHttp1Only, names }) => ({
        target: { certificate: certificateId(store) ?? null, http2: !isHttp1Only },
        names,
        number,
      }));

  /** Leaves certificates out, for the reason that each has. */
  const leaveOut = async (reasons: ReadonlyMap<number, string>, hosts: Iterable<HostTls>): Promise<void> => {
    for (const [id, reason] of reasons) {
      held.delete(id);
      refused.set(id, reason);
    }
    entries.reset(hosts, held.values());
    await writeCrtList();
  };

  /**
   * Makes HAProxy's certificate list equal to the entries; returns how many lines differed. HAProxy takes any new certificate, and
   * looks at it when the first line names it. One that it refuses then is left out, so that it keeps no other from being served.
   */
  const syncLines = async (hosts: () => Iterable<HostTls>): Promise<number> => {
    const applied = await appliedLines();
    const { add, remove } = planTlsLines(applied, entries.entries);
    const served = new Set(applied.map(({ target }) => target.certificate));
    const unservable = new Map<number, string>();
    for (const { target, names } of add) {
      const { certificate } = target;
      try {
        await commands.addLine({ store: storeOf(target), isHttp1Only: !target.http2, names });
        served.add(certificate);
      } catch (error) {
        const isUnservable = error instanceof RuntimeRefused && certificate !== null && !served.has(certificate);
        if (!isUnservable) throw error;
        unservable.set(certificate, refusalOf(error));
      }
    }
    if (unservable.size > 0) {
      await leaveOut(unservable, hosts());
      return add.length - unservable.size + (await syncLines(hosts));
    }
    for (const { target, number } of remove) await commands.removeLine(storeOf(target), number);
    return add.length + remove.length;
  };

  /** HAProxy takes the certificate first, so that no file is written that would keep it from starting. */
  const put = async (certificate: DesiredCertificate, live: Live): Promise<void> => {
    try {
      const { pem, held: checked } = check(certificate);
      if (held.get(checked.id)?.digest !== checked.digest) {
        await live(() => commands.put(certificateFile(checked.id), pem));
        await writeFileAtomically(inDirectory(directory, certificateFile(checked.id)), [pem], { durable: true });
      }
      held.set(checked.id, checked);
      refused.delete(checked.id);
    } catch (error) {
      if (error instanceof InvalidCertificate) refused.set(certificate.id, error.message);
      else if (error instanceof RuntimeRefused) refused.set(certificate.id, refusalOf(error));
      else throw error;
    }
  };

  /** What is on disk HAProxy has taken before, or will read at its start; whether it holds that is for `repair` to see. */
  const isOnDisk = async (certificate: DesiredCertificate): Promise<Held | undefined> => {
    try {
      const { pem, held: checked } = check(certificate);
      const path = inDirectory(directory, certificateFile(checked.id));
      return (await readFile(path, 'utf8')) === pem ? checked : undefined;
    } catch {
      // Why not is told when it is put.
      return undefined;
    }
  };

  const removeStores = async (): Promise<number> => {
    let removed = 0;
    for (const store of await commands.stores()) {
      const id = certificateId(store);
      if (id === undefined || held.has(id)) continue;
      await commands.remove(store);
      removed++;
    }
    return removed;
  };

  const removeFiles = async (): Promise<void> => {
    const folder = inDirectory(directory, dataPlaneFiles.certificateDirectory);
    // Before the first certificate there is no folder.
    const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return [];
    });
    for (const name of names) {
      const id = certificateId(`${dataPlaneFiles.certificateDirectory}/${name}`);
      if (id !== undefined && !held.has(id)) await rm(join(folder, name), { force: true });
    }
  };

  /** Other changes may come between two parts that run `exclusively`. */
  const take = async (
    changes: readonly CertificateChange[],
    hosts: () => Iterable<HostTls>,
    { live, exclusively }: How,
    isDue: (change: CertificateChange) => boolean = () => true,
  ): Promise<void> => {
    for (const change of changes) {
      if (change.type === 'put') {
        await exclusively(async () => {
          if (isDue(change)) await put(change.certificate, live);
        });
      } else if (isDue(change)) {
        held.delete(change.id);
        refused.delete(change.id);
      }
    }
    await exclusively(async () => {
      if (changes.length > 0) entries.reset(hosts(), held.values());
      // Never a list that names a missing file, nor a line without its store.
      await writeCrtList();
      await live(() => syncLines(hosts));
      await live(removeStores);
      await removeFiles();
    });
  };

  return {
    /** Why each certificate that was not taken cannot be served, by id. */
    refused: refused as ReadonlyMap<number, string>,
    has: (id: number): boolean => held.has(id),
    ids: (): number[] => [...held.keys()],
    changeHost: entries.change,
    resetEntries: (hosts: Iterable<HostTls>): void => entries.reset(hosts, held.values()),
    writeCrtList,
    syncLines,

    /**
     * Takes and drops certificates: files always; HAProxy through `live`, which may leave a task out while there is
     * none. A certificate that cannot be served is refused and leaves its predecessor in force.
     */
    async change(changes: readonly CertificateChange[], hosts: () => Iterable<HostTls>, how: How): Promise<void> {
      for (const change of changes) overtaken.add(idOf(change));
      await take(changes, hosts, how);
    },

    /** Takes what `intend` returned, but for what `change` has come to since. */
    takeIntended: (changes: readonly CertificateChange[], hosts: () => Iterable<HostTls>, how: How): Promise<void> =>
      take(changes, hosts, how, (change) => !overtaken.has(idOf(change))),

    /**
     * Makes these the certificates that there should be, as far as they are known already or lie on disk as they should;
     * returns the others, for `takeIntended`. Forgets those that are not among them.
     */
    async intend(certificates: Iterable<DesiredCertificate>, hosts: Iterable<HostTls>): Promise<CertificateChange[]> {
      const wanted = new Set<number>();
      const changes: CertificateChange[] = [];
      overtaken.clear();
      for (const certificate of certificates) {
        const { id } = certificate;
        wanted.add(id);
        const known = held.get(id);
        if (known && known.source === hash('sha256', certificate.pem)) {
          refused.delete(id);
          continue;
        }
        const found = known ? undefined : await isOnDisk(certificate);
        if (found) held.set(id, found);
        else changes.push({ type: 'put', certificate });
      }
      for (const id of [...held.keys(), ...refused.keys()]) {
        if (wanted.has(id)) continue;
        held.delete(id);
        refused.delete(id);
      }
      entries.reset(hosts, held.values());
      return changes;
    },

    /** Leaves out a certificate that keeps HAProxy from starting. */
    async quarantine(id: number, reason: string, hosts: Iterable<HostTls>): Promise<void> {
      await leaveOut(new Map([[id, reason]]), hosts);
      await removeFiles();
    },

    /**
     * Reads back every certificate and the list; puts right what differs, `exclusively`. Returns the number of differences.
     */
    async repair(hosts: () => Iterable<HostTls>, exclusively: Exclusively): Promise<number> {
      let differences = 0;
      const stores = new Set(await commands.stores());
      for (const { id, fingerprint } of [...held.values()]) {
        const store = certificateFile(id);
        if (stores.has(store) && (await commands.fingerprint(store)) === fingerprint) continue;
        await exclusively(async () => {
          // It may have been replaced or removed since.
          if (held.get(id)?.fingerprint !== fingerprint) return;
          await commands.put(store, await readFile(inDirectory(directory, store), 'utf8'));
          differences++;
        });
      }
      return exclusively(async () => differences + (await syncLines(hosts)) + (await removeStores()));
    },
  };
};
