import { createHmac, timingSafeEqual } from 'node:crypto';
import { type AsnType, countOf, octetsOf, oidOf, sequenceOf } from './asn1.ts';
import { hmacOf, pbkdf2Of, unreadAlgorithm } from './decrypt.ts';
import { type Digest, derivePbkdf2, derivePkcs12, OUTPUT_BYTES, PURPOSE, type Rounds } from './derive.ts';
import type { EncodedPassword } from './password.ts';
import { Pkcs12Problem } from './problem.ts';

/** RFC 9579. */
const PBMAC1 = '1.2.840.113549.1.5.14';
const MAX_KEY_BYTES = 64;

const DIGESTS: Readonly<Record<string, Digest>> = {
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.4': 'sha224',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

type KeyOf = (password: EncodedPassword, rounds: Rounds) => Buffer;

const pbmac1 = (parameters: AsnType | undefined): { digest: Digest; keyOf: KeyOf } => {
  const [derivation, hmac] = sequenceOf(parameters);
  const { keyLength, ...pbkdf2 } = pbkdf2Of(derivation);
  // RFC 9579 demands it: without, keys of other lengths would be tried.
  if (keyLength === undefined || keyLength < 1 || keyLength > MAX_KEY_BYTES) {
    throw new Pkcs12Problem('is damaged: the key of its integrity has no length');
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
  const known = DIGESTS[oidOf(oid)];
  if (known === undefined && oidOf(oid) !== PBMAC1) throw unreadAlgorithm('protected', oidOf(oid));
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
