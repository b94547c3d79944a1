import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Loss } from '../loss.ts';

/** A certificate with its key, as a source keeps them: PEM that nobody looked at. */
export interface Pair {
  certificate: string;
  key: string;
}

/** What guards a host's connections, by its name among those that come along, and what is lost of it. */
export interface Served {
  certificate?: string;
  /** Whether the source got it by itself, and renewed it. */
  isAutomatic?: boolean;
  losses: Loss[];
}

/** More than this would take longer to look at than anybody waits for a preview. */
export const MOST_CERTIFICATES = 2_000;
const MAX_NAMES = 200;

/** The DNS names of a certificate; odd ones, which Node quotes, are left out. */
const namesOf = ({ subjectAltName = '' }: X509Certificate): string[] =>
  subjectAltName
    .split(', ')
    .flatMap((name) => /^DNS:([\w*.-]+)$/.exec(name)?.[1]?.toLowerCase() ?? [])
    .slice(0, MAX_NAMES);

/** The names that a certificate with its key is for, or what is wrong with them in words that quote nothing of them. */
export const lookAt = ({ certificate, key }: Pair): { names: string[] } | { wrong: string } => {
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
