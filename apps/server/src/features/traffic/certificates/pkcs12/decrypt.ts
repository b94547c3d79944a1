import { createDecipheriv } from 'node:crypto';
import { type AsnType, countOf, isInteger, octetsOf, oidOf, sequenceOf } from './asn1.ts';
import { type Digest, derivePbkdf2, derivePkcs12, PURPOSE, type Rounds } from './derive.ts';
import { AES_CBC, HMAC, named, SCHEME } from './oids.ts';
import type { EncodedPassword } from './password.ts';
import { Pkcs12Problem } from './problem.ts';
import { decryptRc2 } from './rc2.ts';

type Decipher = (key: Buffer, iv: Buffer, data: Buffer) => Buffer;

const byOpenssl =
  (cipher: string): Decipher =>
  (key, iv, data) => {
    const decipher = createDecipheriv(cipher, key, iv);
    return Buffer.concat([decipher.update(data), decipher.final()]);
  };
const tripleDes = byOpenssl('des-ede3-cbc');
/** What all that is encrypted begins with: contents, and keys. */
const SEQUENCE = 0x30;
const rc2: Decipher = (key, iv, data) => decryptRc2(key, iv, data, SEQUENCE);

/** Ciphers of PBES2, by their object identifiers. */
const CIPHERS: Readonly<Record<string, { keyBytes: number; decipher: Decipher }>> = {
  [AES_CBC[128]]: { keyBytes: 16, decipher: byOpenssl('aes-128-cbc') },
  [AES_CBC[192]]: { keyBytes: 24, decipher: byOpenssl('aes-192-cbc') },
  [AES_CBC[256]]: { keyBytes: 32, decipher: byOpenssl('aes-256-cbc') },
  '1.2.840.113549.3.7': { keyBytes: 24, decipher: tripleDes },
};

/** Schemes of PKCS #12 itself, with SHA-1: what Windows and Java wrote for twenty years. */
const OLD_SCHEMES: Readonly<Record<string, { keyBytes: number; decipher: Decipher }>> = {
  '1.2.840.113549.1.12.1.3': { keyBytes: 24, decipher: tripleDes },
  '1.2.840.113549.1.12.1.4': {
    keyBytes: 16,
    decipher: (key, iv, data) => tripleDes(Buffer.concat([key, key.subarray(0, 8)]), iv, data),
  },
  '1.2.840.113549.1.12.1.5': { keyBytes: 16, decipher: rc2 },
  '1.2.840.113549.1.12.1.6': { keyBytes: 5, decipher: rc2 },
};
const OLD_IV_BYTES = 8;

const NAMES: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.12.1.1': 'RC4',
  '1.2.840.113549.1.12.1.2': 'RC4',
  '1.2.840.113549.1.5.3': 'DES and MD5',
  '1.2.840.113549.1.5.10': 'DES',
  '1.3.6.1.4.1.11591.4.11': 'scrypt',
  '1.2.840.113549.3.2': 'RC2 by PBES2',
};

/** What is said of an algorithm that isn't read. */
export const unreadAlgorithm = (purpose: string, oid: string): Pkcs12Problem =>
  new Pkcs12Problem(
    `is ${purpose} by an algorithm that is not read here (${NAMES[oid] ?? oid}): export it anew with AES-256, or with TripleDES`,
  );

/** The parameters of PBKDF2: `SEQUENCE { salt, iterations, keyLength?, prf? }`. */
export const pbkdf2Of = (algorithm: AsnType | undefined) => {
  const [oid, parameters] = sequenceOf(algorithm);
  if (oidOf(oid) !== SCHEME.pbkdf2) throw unreadAlgorithm('encrypted', oidOf(oid));
  const [salt, iterations, ...more] = sequenceOf(parameters);
  const keyLength = isInteger(more[0]) ? countOf(more.shift()) : undefined;
  return {
    salt: octetsOf(salt),
    iterations: countOf(iterations),
    digest: more[0] === undefined ? 'sha1' : hmacOf(more[0]),
    keyLength,
  } as const;
};

/** The hash function of an HMAC's AlgorithmIdentifier. */
export const hmacOf = (algorithm: AsnType | undefined): Digest => {
  const oid = oidOf(sequenceOf(algorithm)[0]);
  const digest = named(HMAC, oid);
  if (digest === undefined) throw unreadAlgorithm('protected', oid);
  return digest;
};

/** Makes of an AlgorithmIdentifier what decrypts by it. Throws a `Pkcs12Problem` for one that isn't known. */
const schemeOf = (algorithm: AsnType | undefined) => {
  const [scheme, parameters] = sequenceOf(algorithm);
  const oid = oidOf(scheme);
  const old = OLD_SCHEMES[oid];
  if (old) {
    const [salt, iterations] = sequenceOf(parameters);
    const derivation = { digest: 'sha1', salt: octetsOf(salt), iterations: countOf(iterations) } as const;
    return ({ utf16 }: EncodedPassword, data: Buffer, rounds: Rounds): Buffer => {
      const key = derivePkcs12(utf16, derivation, PURPOSE.key, old.keyBytes, rounds);
      return old.decipher(key, derivePkcs12(utf16, derivation, PURPOSE.iv, OLD_IV_BYTES, rounds), data);
    };
  }
  if (oid !== SCHEME.pbes2) throw unreadAlgorithm('encrypted', oid);
  const [derivation, encryption] = sequenceOf(parameters);
  const [cipherOid, iv] = sequenceOf(encryption);
  const cipher = CIPHERS[oidOf(cipherOid)];
  if (!cipher) throw unreadAlgorithm('encrypted', oidOf(cipherOid));
  const pbkdf2 = pbkdf2Of(derivation);
  const ivBytes = octetsOf(iv);
  return ({ utf8 }: EncodedPassword, data: Buffer, rounds: Rounds): Buffer =>
    cipher.decipher(derivePbkdf2(utf8, pbkdf2, cipher.keyBytes, rounds), ivBytes, data);
};

/**
 * Decrypts with the first of some passwords that does; undefined when none does. Throws a `Pkcs12Problem` for an algorithm that isn't known, or
 * too many rounds.
 */
export const decryptWith = (
  algorithm: AsnType | undefined,
  data: Buffer,
  passwords: readonly EncodedPassword[],
  rounds: Rounds,
): { plain: Buffer; password: EncodedPassword } | undefined => {
  const decrypt = schemeOf(algorithm);
  for (const password of passwords) {
    try {
      const plain = decrypt(password, data, rounds);
      // With one wrong password of 256 there is something like a padding at its end.
      if (plain[0] === SEQUENCE) return { plain, password };
    } catch (error) {
      if (error instanceof Pkcs12Problem) throw error;
      // No padding at its end: another password.
    }
  }
  return undefined;
};
