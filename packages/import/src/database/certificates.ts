import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type Loss, loss } from '../loss.ts';
import type { ImportedCertificate, Place } from '../reading.ts';
import { shorten } from '../shorten.ts';
import { createNames } from './unique-names.ts';

/** A certificate with its key, as a source keeps them: PEM that nobody looked at. */
export interface Pair {
  certificate: string;
  key: string;
}

/** A certificate that a database names. */
export interface NamedCertificate {
  name: string;
  /** Undefined where it is not all at hand. */
  pair: Pair | undefined;
  /** What to do where there is none, or it can not be used. */
  advice: string;
  /** What to know of it when it comes along. */
  note?: string;
}

/** What guards a host's connections, by its name among those that come along, and what is lost of it. */
export interface Served {
  certificate?: string;
  losses: Loss[];
}

/** More than this would take longer to look at than anybody waits for a preview. */
const MOST_CERTIFICATES = 2_000;
const MAX_NAMES = 200;

/** The DNS names of a certificate; odd ones, which Node quotes, are left out. */
const namesOf = ({ subjectAltName = '' }: X509Certificate): string[] =>
  subjectAltName
    .split(', ')
    .flatMap((name) => /^DNS:([\w*.-]+)$/.exec(name)?.[1]?.toLowerCase() ?? [])
    .slice(0, MAX_NAMES);

const lookAt = ({ certificate, key }: Pair): { names: string[] } | { wrong: string } => {
  let leaf: X509Certificate;
  try {
    leaf = new X509Certificate(certificate);
  } catch {
    return { wrong: 'can not be read' };
  }
  try {
    return leaf.checkPrivateKey(createPrivateKey(key)) ? { names: namesOf(leaf) } : { wrong: 'has the key of another' };
  } catch {
    return { wrong: 'has a key that can not be read, or only with a password' };
  }
};

/**
 * Takes along the certificates that hosts ask for by their id, each looked at once: `of` says what a host gets, `taken` all that were
 * found good.
 */
export const createCertificates = (find: (id: number) => NamedCertificate | undefined) => {
  const nameFor = createNames();
  const known = new Map<number, { certificate?: ImportedCertificate; says: string[] }>();
  const take = (id: number): { certificate?: ImportedCertificate; says: string[] } => {
    const found = find(id);
    if (!found) return { says: [`its certificate ${id} is not in the database: upload it, or let one be issued`] };
    const { name, pair, advice, note } = found;
    const about = (what: string) => ({ says: [`its certificate ${shorten(name)} ${what}: ${advice}`] });
    if (!pair) return about('does not come along');
    if (known.size >= MOST_CERTIFICATES) return about(`is one of more than ${MOST_CERTIFICATES}`);
    const looked = lookAt(pair);
    if ('wrong' in looked) return about(looked.wrong);
    const { names } = looked;
    const certificate = {
      name: nameFor(shorten(name, 200)),
      names,
      certificatePem: pair.certificate,
      keyPem: pair.key,
    };
    return { certificate, says: note === undefined ? [] : [`its certificate ${shorten(name)} ${note}`] };
  };
  return {
    of(id: number, host: Place): Served {
      if (id === 0) return { losses: [] };
      const one = known.get(id) ?? take(id);
      known.set(id, one);
      const losses = one.says.map((message) => loss(host, message));
      return { losses, ...(one.certificate && { certificate: one.certificate.name }) };
    },
    taken: (): ImportedCertificate[] => [...known.values()].flatMap(({ certificate }) => certificate ?? []),
  };
};
