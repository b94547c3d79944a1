import { randomUUID, X509Certificate } from 'node:crypto';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { CertificateImport, CertificateImportEntry } from '@sallyport/contract';
import type { Actor } from '@sallyport/store/actor';
import type { Executor, Transact } from '@sallyport/store/database/open';
import { Refusal } from '@sallyport/store/errors';
import { type CertificatePair, IN_WORDS, parseCertificatePair } from '../pem.ts';
import type { ReadPkcs12Files } from '../pkcs12/reader.ts';
import type { CertificatePlane, Certificates } from '../service.ts';
import type { CertificateStore } from '../store.ts';
import { revokedWarning } from '../wire.ts';
import { openPkcs12 } from './open-pkcs12.ts';
import { isAuthority, type Pair, pairUp } from './pair-up.ts';
import { type CollectedFile, type Found, readFiles } from './read-files.ts';

export interface CollectDeps {
  transact: Transact;
  store: (executor: Executor) => Pick<CertificateStore, 'expiringAt'>;
  create: Certificates['within']['create'];
  plane: Pick<CertificatePlane, 'syncCertificates'>;
  clock: () => Date;
  readPkcs12: ReadPkcs12Files;
}

export interface CertificateFiles {
  files: readonly CollectedFile[];
  /** Of the PKCS #12 files among them: each is opened with the one that fits. */
  passwords: readonly string[];
}

type Fate = Pick<CertificateImportEntry, 'outcome' | 'message'> & { certificate_id?: number };

/** A pair with what it would be stored as, or with why it is left. */
interface Candidate {
  pair: Pair;
  parsed?: CertificatePair;
  fate?: Fate;
}

const namesOf = (certificate: X509Certificate): string => certificate.subjectAltName ?? certificate.subject ?? '';

const judge = (pair: Pair, now: Date): Candidate => {
  try {
    const parsed = parseCertificatePair(pair.chainPem, pair.key.pem, IN_WORDS);
    if (parsed.notAfter > now) return { pair, parsed };
    return { pair, fate: { outcome: 'expired', message: `it expired on ${parsed.notAfter.toISOString()}` } };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { pair, fate: { outcome: 'refused', message: error.message } };
  }
};

const judgeAll = async (pairs: readonly Pair[], now: Date): Promise<Candidate[]> => {
  const candidates: Candidate[] = [];
  for (const pair of pairs) {
    await yieldToOthers();
    candidates.push(judge(pair, now));
  }
  return candidates;
};

/** Of several for the same names, as archives have them, only the one that lasts longest is wanted. */
const leaveSuperseded = (candidates: readonly Candidate[]): void => {
  const newest = new Map<string, Candidate>();
  const sorted = [...candidates].sort((a, b) => Number(b.parsed?.notAfter ?? 0) - Number(a.parsed?.notAfter ?? 0));
  for (const candidate of sorted) {
    const { parsed } = candidate;
    if (!parsed) continue;
    const names = [...parsed.names].sort().join(',');
    const better = newest.get(names);
    if (!better) newest.set(names, candidate);
    else {
      const message = `${better.pair.leaf.files[0]} has one for the same names that lasts longer`;
      candidate.fate = { outcome: 'superseded', message };
    }
  }
};

/** Takes certificates with their keys out of many files: certbot's, Caddy's, acme.sh's, Traefik's, or any others. */
export const createCollect = ({ transact, store, create, plane, clock, readPkcs12 }: CollectDeps) => {
  const bringIn = async (tx: Executor, candidates: readonly Candidate[], actor: Actor): Promise<number[]> => {
    const wanted = candidates.filter(({ fate }) => fate === undefined);
    const expiries = wanted.map(({ parsed }) => parsed?.notAfter.toISOString() ?? '');
    const present = new Map(
      (await store(tx).expiringAt(expiries)).map(({ id, chain_pem }) => [
        new X509Certificate(chain_pem).fingerprint256,
        id,
      ]),
    );
    const made: number[] = [];
    for (const candidate of wanted) {
      const { pair, parsed } = candidate;
      if (!parsed) continue;
      const known = present.get(pair.leaf.certificate.fingerprint256);
      if (known !== undefined) {
        candidate.fate = { outcome: 'present', message: 'it is there already', certificate_id: known };
        continue;
      }
      const { id, revoked_at } = await create(
        tx,
        {
          uuid: randomUUID(),
          name: parsed.names[0] ?? '',
          provider: 'custom',
          domains: parsed.names.join(','),
          chain_pem: parsed.chainPem,
          key_pem: parsed.keyPem,
          not_before: parsed.notBefore.toISOString(),
          expires_at: parsed.notAfter.toISOString(),
          is_placeholder: 0,
          created_at: clock().toISOString(),
        },
        actor,
      );
      const warning = revokedWarning({ revoked_at });
      const message = `for ${parsed.names.join(', ')}${warning === undefined ? '' : `. ${warning}`}`;
      candidate.fate = { outcome: 'imported', message, certificate_id: id };
      made.push(id);
    }
    return made;
  };

  const report = (given: readonly CollectedFile[], found: Found, candidates: readonly Candidate[]) => {
    const entries: CertificateImportEntry[] = [];
    const told = new Set<string>();
    const tell = (
      file: string,
      { certificate_id = null, ...fate }: Omit<Fate, 'certificate_id'> & { certificate_id?: number | null },
    ) => {
      entries.push({ file, certificate_id, ...fate });
      told.add(file);
    };
    for (const { pair, fate } of candidates) {
      if (!fate) continue;
      const [first = '', ...copies] = pair.leaf.files;
      tell(first, fate);
      for (const copy of new Set(copies)) {
        if (copy !== first)
          tell(copy, {
            outcome: 'same',
            message: `the certificate of ${first}`,
            certificate_id: fate.certificate_id ?? null,
          });
      }
      for (const file of new Set(pair.key.files)) {
        if (!pair.leaf.files.includes(file)) {
          tell(file, { outcome: 'same', message: `the key of ${first}`, certificate_id: fate.certificate_id ?? null });
        }
      }
    }
    for (const { file, message, isLocked } of found.refused) {
      tell(file, { outcome: isLocked ? 'locked' : 'refused', message });
    }
    const paired = new Set(candidates.map(({ pair }) => pair.leaf));
    for (const leaf of found.certificates.values()) {
      const file = leaf.files.find((one) => !told.has(one));
      if (file === undefined || paired.has(leaf)) continue;
      if (isAuthority(leaf.certificate)) {
        tell(file, { outcome: 'authority', message: 'certificates of authorities: used where a chain needs them' });
      } else {
        const message = `no file has the key of the certificate for ${namesOf(leaf.certificate)}`;
        tell(file, { outcome: 'unpaired', message });
      }
    }
    for (const key of found.keys.values()) {
      const file = key.files.find((one) => !told.has(one));
      if (file !== undefined) tell(file, { outcome: 'unpaired', message: 'no file has a certificate of this key' });
    }
    for (const { file } of given) {
      if (!told.has(file)) tell(file, { outcome: 'ignored', message: 'it holds no certificate and no private key' });
    }
    return entries;
  };

  /** Takes what is good and tells what became of each file. Nothing is taken when the store fails half-way. */
  return async ({ files, passwords }: CertificateFiles, actor: Actor): Promise<CertificateImport> => {
    const { opened, refused } = await openPkcs12(files, passwords, actor, readPkcs12);
    const found = await readFiles(opened);
    found.refused.push(...refused);
    const candidates = await judgeAll(await pairUp(found), clock());
    leaveSuperseded(candidates);
    const wantsAny = candidates.some(({ fate }) => fate === undefined);
    const made = wantsAny ? await transact((tx) => bringIn(tx, candidates, actor)) : [];
    if (made.length > 0) await plane.syncCertificates(made);
    return { imported: made.length, files: report(files, found, candidates) };
  };
};
export type Collect = ReturnType<typeof createCollect>;
