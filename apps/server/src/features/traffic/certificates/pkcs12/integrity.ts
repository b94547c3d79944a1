import { createHmac, timingSafeEqual } from 'node:crypto';
import { type AsnType, countOf, octetsOf, oidOf, sequenceOf } from './asn1.ts';
import { hmacOf, pbkdf2Of, unreadAlgorithm } from './decrypt.ts';
import { type Digest, derivePbkdf2, derivePkcs12, OUTPUT_BYTES, PURPOSE, type Rounds } from './derive.ts';
import { HASH, named, SCHEME } from './oids.ts';
import type { EncodedPassword } from './password.ts';
import { Pkcs12Problem } from './problem.ts';

/** RFC 9579, section 9: of fewer, a file that says so is taken with passwords that are not its own. */
const LEAST_KEY_BYTES = 20;
const MAX_KEY_BYTES = 64;

type KeyOf = (password: EncodedPassword, rounds: Rounds) => Buffer;

const pbmac1 = (parameters: AsnType | undefined): { digest: Digest; keyOf: KeyOf } => {
  const [derivation, hmac] = sequenceOf(parameters);
  const { keyLength, ...pbkdf2 } = pbkdf2Of(derivation);
  // RFC 9579 demands it: without, keys of other lengths would be tried.
  if (keyLength === undefined) throw new Pkcs12Problem('is damaged: the key of its integrity has no length');
  if (keyLength < LEAST_KEY_BYTES || keyLength > MAX_KEY_BYTES) {
    throw new Pkcs12Problem(`is damaged, or forged: the key of its integrity has ${keyLength} bytes`);
  }
  return { digest: hmacOf(hmac), keyOf: ({ utf8 }, rounds) => derivePbkdf2(utf8, pbkdf2, keyLength, rounds) };
};

/**
 * The password that the contents were protected with, of some; undefined when it is none of them, or the contents are others. `macData`: see
 * RFC 7292, section 4.
 */
export const provenPassword = (
  macData: AsnType,
  contents: Buffer,
  passwords: readonly EncodedPassword[],
  rounds: Rounds,
): EncodedPassword | undefined => {
  const [digestInfo, macSalt, count] = sequenceOf(macData);
  const [algorithm, expectedOctets] = sequenceOf(digestInfo);
  const [oid, parameters] = sequenceOf(algorithm);
  const expected = octetsOf(expectedOctets);
  const known = named(HASH, oidOf(oid));
  if (known === undefined && oidOf(oid) !== SCHEME.pbmac1) throw unreadAlgorithm('protected', oidOf(oid));
  const derivation = { salt: octetsOf(macSalt), iterations: count === undefined ? 1 : countOf(count) };
  const { digest, keyOf } =
    known === undefined
      ? pbmac1(parameters)
      : {
          digest: known,
          keyOf: ({ utf16 }: EncodedPassword, left: Rounds) =>
            derivePkcs12(utf16, { ...derivation, digest: known }, PURPOSE.mac, OUTPUT_BYTES[known], left),
        };
  return passwords.find((password) => {
    const mac = createHmac(digest, keyOf(password, rounds)).update(contents).digest();
    return mac.length === expected.length && timingSafeEqual(mac, expected);
  });
};
