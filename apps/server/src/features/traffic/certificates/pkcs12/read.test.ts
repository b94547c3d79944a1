import { createPrivateKey, X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeCertificate, makeNamesakes } from '../../../../../../../test/support/certificates.ts';
import { fuzzSeed, noise } from '../../../../../../../test/support/noise.ts';
import { makePkcs12 } from '../../../../../../../test/support/pkcs12.ts';
import { createRounds } from './derive.ts';
import { Pkcs12Problem } from './problem.ts';
import { decryptRc2 } from './rc2.ts';
import { readPkcs12 } from './read.ts';

const PASSWORD = 'correct horse';
const NON_ASCII = 'größe €😀';
const read = (bytes: Buffer, password = PASSWORD) => readPkcs12(bytes, password, createRounds().forFile());
const problemOf = (bytes: Buffer, password = PASSWORD): string => {
  try {
    read(bytes, password);
  } catch (error) {
    if (error instanceof Pkcs12Problem) return `${error.isLocked ? 'locked: ' : ''}${error.message}`;
    throw error;
  }
  return 'none';
};

const signed = makeNamesakes('signed.example.com');
const RSA = ['genrsa', '-out', 'key.pem', '2048'];
const keys = {
  p256: signed,
  p384: makeCertificate(['ec.example.com'], {
    keyCommand: ['ecparam', '-name', 'secp384r1', '-genkey', '-noout', '-out', 'key.pem'],
  }),
  rsa: makeCertificate(['rsa.example.com'], { keyCommand: RSA }),
  ed25519: makeCertificate(['ed.example.com'], { keyCommand: ['genpkey', '-algorithm', 'ed25519', '-out', 'key.pem'] }),
};

const expectSame = ({ keys, certificates }: ReturnType<typeof read>, pair: { certificate: string; key: string }) => {
  const [key = ''] = keys;
  expect(keys).toHaveLength(1);
  expect(createPrivateKey(key).equals(createPrivateKey(pair.key))).toBe(true);
  const own = new X509Certificate(pair.certificate).fingerprint256;
  expect(certificates.map((pem) => new X509Certificate(pem).fingerprint256)).toContain(own);
};

test.each([
  ['of OpenSSL 3: AES-256', []],
  ['of old OpenSSL and Windows: RC2 with 40 bits, TripleDES, SHA-1', ['-legacy']],
  ['with TripleDES', ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES', '-macalg', 'sha1']],
  ['with two keys of TripleDES', ['-keypbe', 'PBE-SHA1-2DES', '-certpbe', 'PBE-SHA1-2DES']],
  ['with RC2 of 128 bits', ['-legacy', '-keypbe', 'PBE-SHA1-RC2-128', '-certpbe', 'PBE-SHA1-RC2-128']],
  ['with AES-128, AES-192 and SHA-512', ['-keypbe', 'AES-128-CBC', '-certpbe', 'AES-192-CBC', '-macalg', 'sha512']],
  ['without integrity', ['-nomac']],
  ['without integrity, old', ['-legacy', '-nomac']],
  ['whose contents are not encrypted', ['-keypbe', 'NONE', '-certpbe', 'NONE']],
  ['of a name', ['-name', 'Größe \u202e<b>', '-iter', '10000']],
])('a file %s', (_what, how) => {
  // Every kind of key by the two that most programs write.
  for (const pair of how.length < 2 ? Object.values(keys) : [keys.p256]) {
    const bytes = makePkcs12(pair, { password: PASSWORD, others: signed.authority, how });
    const contents = read(bytes);
    expectSame(contents, pair);
    expect(contents.certificates).toHaveLength(2);
    expect(problemOf(bytes, 'another')).toBe('locked: has another password');
    expect(problemOf(bytes, '')).toBe('locked: needs its password');
  }
});

test('passwords that are empty, or not of ASCII', () => {
  for (const how of [[], ['-legacy'], ['-nomac'], ['-legacy', '-nomac']]) {
    expectSame(read(makePkcs12(signed, { how }), ''), signed);
    expectSame(read(makePkcs12(signed, { how, password: NON_ASCII }), NON_ASCII), signed);
  }
});

test('what holds no key, and what holds no encryption at all', () => {
  const { key: _, ...alone } = signed;
  expect(read(makePkcs12(alone, { password: PASSWORD }))).toMatchObject({
    keys: [],
    certificates: [expect.any(String)],
  });
  const open = makePkcs12(signed, { how: ['-keypbe', 'NONE', '-certpbe', 'NONE', '-nomac'] });
  expectSame(read(open, 'whatever'), signed);
});

/** The same value in pieces of octets and without a length, as macOS and old Java write it. */
const inPieces = (bytes: Buffer): Buffer => {
  const value = (tag: number, content: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(content.length);
    return Buffer.concat([Buffer.from([tag, 0x84]), length, content]);
  };
  const open = (tag: number, content: Buffer) => Buffer.concat([Buffer.from([tag, 0x80]), content, Buffer.alloc(2)]);
  /** Content and end of the value at an offset. */
  const at = (offset: number) => {
    const first = bytes[offset + 1] ?? 0;
    const size = first < 0x80 ? 0 : first & 0x7f;
    const length = size === 0 ? first : bytes.readUIntBE(offset + 2, size);
    const start = offset + 2 + size;
    return { start, end: start + length };
  };
  const version = at(at(0).start);
  const authSafe = at(version.end);
  const kind = at(authSafe.start);
  const octets = at(at(kind.end).start);
  const contents = bytes.subarray(octets.start, octets.end);
  const pieces = [contents.subarray(0, 100), contents.subarray(100, 101), contents.subarray(101)];
  const inside = open(0x24, Buffer.concat(pieces.map((piece) => value(0x04, piece))));
  const info = open(0x30, Buffer.concat([bytes.subarray(authSafe.start, kind.end), open(0xa0, inside)]));
  return open(0x30, Buffer.concat([bytes.subarray(at(0).start, version.end), info, bytes.subarray(authSafe.end)]));
};

test('a file in pieces of indefinite length', () => {
  expectSame(read(inPieces(makePkcs12(signed, { password: PASSWORD }))), signed);
});

test('what is no such file, not whole, or damaged says so', () => {
  const whole = makePkcs12(signed, { password: PASSWORD });
  expect(problemOf(Buffer.alloc(0))).toBe('is empty');
  expect(problemOf(Buffer.from('hello'))).toBe('is no PKCS #12');
  expect(problemOf(Buffer.from(signed.certificate))).toBe('is PEM, no PKCS #12');
  expect(problemOf(new X509Certificate(signed.certificate).raw)).toBe('is no PKCS #12');
  expect(problemOf(Buffer.from('feedfeed00000002', 'hex'))).toMatch(/^is a Java keystore .*keytool -importkeystore/);
  expect(problemOf(whole.subarray(0, 500))).toBe(`is cut off: 500 of its ${whole.length} bytes are there`);
  // Each byte wrong, one after the other: never anything but words.
  for (let at = 0; at < whole.length; at += 7) {
    const broken = Buffer.from(whole);
    broken[at] = (broken[at] ?? 0) ^ 0xff;
    problemOf(broken);
  }
});

test('algorithms that are not read are named', () => {
  const how = ['-legacy', '-keypbe', 'PBE-SHA1-RC4-128', '-certpbe', 'PBE-SHA1-RC4-40'];
  expect(problemOf(makePkcs12(signed, { password: PASSWORD, how }))).toMatch(
    /^is encrypted by .*\(RC4\): export it anew/,
  );
  const md5 = makePkcs12(signed, { password: PASSWORD, how: ['-macalg', 'md5'] });
  expect(problemOf(md5)).toMatch(/^is protected by .*\(1\.2\.840\.113549\.2\.5\)/);
});

test('more hashing than anybody needs is refused before it is done', () => {
  // INTEGER 65537 becomes 8,323,073, which would take each of them seconds.
  const bytes = makePkcs12(signed, { password: PASSWORD, how: ['-iter', '65537'] });
  const patched = Buffer.from(bytes.toString('hex').replaceAll('0203010001', '02037f0001'), 'hex');
  expect(patched).not.toEqual(bytes);
  expect(problemOf(patched)).toBe('wants its password hashed more than 5,000,000 times, which takes too long here');
  const rounds = createRounds(10_000);
  readPkcs12(makePkcs12(signed), '', rounds.forFile());
  expect(() => readPkcs12(makePkcs12(signed), '', rounds.forFile())).toThrow(/^is left: all files together/);
});

test('a megabyte of RC2 is not decrypted for each password that is wrong', () => {
  const decrypt = () => decryptRc2(Buffer.alloc(16, 1), Buffer.alloc(8, 2), Buffer.alloc(1024 * 1024, 3), 0x30);
  expect(decrypt).toThrow('it begins with something else');
});

const value = (tag: number, content: Buffer) => {
  const head = Buffer.alloc(6);
  head[0] = tag;
  head[1] = 0x84;
  head.writeUInt32BE(content.length, 2);
  return Buffer.concat([head, content]);
};
const MIB = 1024 * 1024;

test.each([
  ['nested without an end', Buffer.from('3080'.repeat(MIB / 2), 'hex')],
  ['nested, each in the next', Buffer.from('3084000fffff'.repeat(MIB / 6), 'hex')],
  ['a million values', value(0x30, Buffer.from('0500'.repeat(MIB / 2), 'hex'))],
  ['one long number', value(0x30, value(0x02, Buffer.alloc(MIB, 0x11)))],
  ['one long identifier', value(0x30, value(0x06, Buffer.alloc(MIB / 2, 0x01)))],
  [`noise (seed ${fuzzSeed})`, noise(MIB)],
  [
    `noise (seed ${fuzzSeed}) behind a good beginning`,
    Buffer.concat([Buffer.from('3083100000020103', 'hex'), noise(MIB)]),
  ],
])('a file of %s is refused', (_what, bytes) => {
  expect(problemOf(bytes)).toMatch(/^is (?:no PKCS #12|damaged|cut off)/);
});

test('values of every kind in the place of another are refused in words', () => {
  const words = /^is (?:no PKCS #12|damaged)/;
  for (const tag of Array.from({ length: 256 }, (_, at) => at)) {
    for (const octets of [0, 1, 2, 3, 4, 5, 13]) {
      const inner = value(tag, Buffer.alloc(octets, 0x7f));
      expect(problemOf(value(0x30, inner))).toMatch(words);
      expect(problemOf(value(0x30, Buffer.concat([Buffer.from('020103', 'hex'), inner])))).toMatch(words);
    }
  }
});
