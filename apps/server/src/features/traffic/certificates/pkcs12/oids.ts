/** Kinds of contents (RFC 5652). */
export const CONTENT = { data: '1.2.840.113549.1.7.1', encrypted: '1.2.840.113549.1.7.6' } as const;

/** Kinds of bags, and of what a certificate's holds (RFC 7292, section 4.2). */
export const BAG = {
  key: '1.2.840.113549.1.12.10.1.1',
  shroudedKey: '1.2.840.113549.1.12.10.1.2',
  certificate: '1.2.840.113549.1.12.10.1.3',
  contents: '1.2.840.113549.1.12.10.1.6',
} as const;
export const X509 = '1.2.840.113549.1.9.22.1';

/** Schemes of passwords (RFC 8018); `pbmac1` by RFC 9579. */
export const SCHEME = {
  pbkdf2: '1.2.840.113549.1.5.12',
  pbes2: '1.2.840.113549.1.5.13',
  pbmac1: '1.2.840.113549.1.5.14',
} as const;

/** HMACs, of PBKDF2 and PBMAC1, by their hash functions. */
export const HMAC = {
  sha1: '1.2.840.113549.2.7',
  sha224: '1.2.840.113549.2.8',
  sha256: '1.2.840.113549.2.9',
  sha384: '1.2.840.113549.2.10',
  sha512: '1.2.840.113549.2.11',
} as const;

/** The hash functions themselves: what RFC 7292 names for an HMAC. */
export const HASH = {
  sha1: '1.3.14.3.2.26',
  sha224: '2.16.840.1.101.3.4.2.4',
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
} as const;

/** AES in CBC, by the bits of its key. */
export const AES_CBC = {
  128: '2.16.840.1.101.3.4.1.2',
  192: '2.16.840.1.101.3.4.1.22',
  256: '2.16.840.1.101.3.4.1.42',
} as const;

/** The name of an object identifier; undefined for one that is none of these. */
export const named = <Name extends string>(names: Readonly<Record<Name, string>>, oid: string): Name | undefined =>
  (Object.keys(names) as Name[]).find((name) => names[name] === oid);
