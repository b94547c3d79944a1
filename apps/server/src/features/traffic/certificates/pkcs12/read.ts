import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type AsnType, countOf, damaged, insideOf, octetsOf, oidOf, parseAsn1, sequenceOf, writtenOf } from './asn1.ts';
import { decryptWith } from './decrypt.ts';
import type { Rounds } from './derive.ts';
import { provenPassword } from './integrity.ts';
import { looksLikePkcs12 } from './looks.ts';
import { BAG, CONTENT, X509 } from './oids.ts';
import { type EncodedPassword, encodingsOf } from './password.ts';
import { Pkcs12Problem } from './problem.ts';

/** What a PKCS #12 file holds, PEM; keys as PKCS #8. */
export interface Pkcs12Contents {
  keys: string[];
  certificates: string[];
}

const VERSION = 3;
/** Of contents in contents; nobody writes any. */
const MAX_DEPTH = 4;

const JKS = Buffer.from('feedfeed', 'hex');

/** What can be told of a file that is none. */
const otherKind = (bytes: Buffer): Pkcs12Problem => {
  if (bytes.length === 0) return new Pkcs12Problem('is empty');
  if (bytes.includes('-----BEGIN')) return new Pkcs12Problem('is PEM, no PKCS #12');
  if (bytes.subarray(0, JKS.length).equals(JKS)) {
    return new Pkcs12Problem(
      'is a Java keystore of the old kind, no PKCS #12: "keytool -importkeystore -srckeystore OLD -destkeystore NEW.p12 -deststoretype pkcs12" makes one of it',
    );
  }
  return new Pkcs12Problem('is no PKCS #12');
};

/** How many bytes the outermost value has by what it says; undefined when it says none. */
const saidLength = (bytes: Buffer): number | undefined => {
  const first = bytes[1] ?? 0;
  if (first < 0x80) return 2 + first;
  const size = first & 0x7f;
  return size === 0 || size > 6 || bytes.length < 2 + size ? undefined : 2 + size + bytes.readUIntBE(2, size);
};

const checkWhole = (bytes: Buffer): void => {
  const said = saidLength(bytes) ?? 0;
  if (said <= bytes.length) return;
  throw new Pkcs12Problem(`is cut off: ${bytes.length} of its ${said} bytes are there`);
};

const lockedBy = (password: string): Pkcs12Problem =>
  new Pkcs12Problem(password === '' ? 'needs its password' : 'has another password', true);

/** Goes through the contents of a file, whose password is known by then or is found on the way. */
const createWalk = (given: string, rounds: Rounds) => {
  const found: Pkcs12Contents = { keys: [], certificates: [] };
  let passwords = encodingsOf(given);
  let isProven = false;

  const decrypted = (algorithm: AsnType | undefined, data: AsnType | undefined): Buffer => {
    const done = decryptWith(algorithm, octetsOf(data), passwords, rounds);
    if (!done && isProven) {
      throw new Pkcs12Problem('can not be decrypted with the password that protects it: it is damaged, or has two');
    }
    if (!done) throw lockedBy(given);
    passwords = [done.password];
    return done.plain;
  };

  const addKey = (der: Buffer): void => {
    try {
      const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
      found.keys.push(key.export({ type: 'pkcs8', format: 'pem' }) as string);
    } catch {
      throw new Pkcs12Problem('holds a private key that can not be read');
    }
  };

  const addCertificate = (value: AsnType): void => {
    const [kind, wrapped] = sequenceOf(value);
    if (oidOf(kind) !== X509) return;
    try {
      found.certificates.push(new X509Certificate(octetsOf(insideOf(wrapped))).toString());
    } catch {
      throw new Pkcs12Problem('holds a certificate that can not be read');
    }
  };

  const walk = (contents: Buffer, depth: number): void => {
    if (depth > MAX_DEPTH) throw new Pkcs12Problem('is damaged: its contents are nested too deeply');
    for (const bag of sequenceOf(parseAsn1(contents))) {
      const [kind, tagged] = sequenceOf(bag);
      const value = insideOf(tagged);
      switch (oidOf(kind)) {
        case BAG.key:
          addKey(writtenOf(value));
          break;
        case BAG.shroudedKey: {
          const [algorithm, data] = sequenceOf(value);
          addKey(decrypted(algorithm, data));
          break;
        }
        case BAG.certificate:
          addCertificate(value);
          break;
        case BAG.contents:
          walk(writtenOf(value), depth + 1);
          break;
        default:
        // Lists of revoked ones, secrets of other kinds.
      }
    }
  };

  return {
    found,
    proven(password: EncodedPassword): void {
      passwords = [password];
      isProven = true;
    },
    passwords: () => passwords,
    /** One ContentInfo of the AuthenticatedSafe. */
    part(info: AsnType): void {
      const [kind, tagged] = sequenceOf(info);
      switch (oidOf(kind)) {
        case CONTENT.data:
          walk(octetsOf(insideOf(tagged)), 0);
          break;
        case CONTENT.encrypted: {
          const [, encrypted] = sequenceOf(insideOf(tagged));
          const [, algorithm, data] = sequenceOf(encrypted);
          walk(decrypted(algorithm, data), 0);
          break;
        }
        default:
          throw new Pkcs12Problem('is encrypted for the holder of a key, not with a password');
      }
    },
  };
};

/** The ContentInfo with all that the file holds, and what protects it. */
const outerParts = (bytes: Buffer) => {
  try {
    const [version, authSafe, macData] = sequenceOf(parseAsn1(bytes));
    const [kind, tagged] = sequenceOf(authSafe);
    return countOf(version) === VERSION ? { kind: oidOf(kind), tagged, macData } : undefined;
  } catch (error) {
    if (error instanceof Pkcs12Problem) return undefined;
    throw error;
  }
};

/**
 * Reads a PKCS #12 file (RFC 7292) with its password; an empty one stands for none. Throws a `Pkcs12Problem` for what is wrong with it or with the
 * password.
 */
export const readPkcs12 = (bytes: Buffer, password: string, rounds: Rounds): Pkcs12Contents => {
  if (looksLikePkcs12(bytes)) checkWhole(bytes);
  const outer = outerParts(bytes);
  if (!outer) throw looksLikePkcs12(bytes) ? damaged() : otherKind(bytes);
  if (outer.kind !== CONTENT.data) throw new Pkcs12Problem('is signed, not protected with a password');
  const contents = octetsOf(insideOf(outer.tagged));
  const walk = createWalk(password, rounds);
  if (outer.macData) {
    const proven = provenPassword(outer.macData, contents, walk.passwords(), rounds);
    if (!proven) throw lockedBy(password);
    walk.proven(proven);
  }
  for (const info of sequenceOf(parseAsn1(contents))) walk.part(info);
  return walk.found;
};
