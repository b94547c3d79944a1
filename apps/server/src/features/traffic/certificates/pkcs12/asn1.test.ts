import { expect, test } from 'vitest';
import { countOf, octetsOf, oidOf, parseAsn1, partsOf } from './asn1.ts';
import { Pkcs12Problem } from './problem.ts';

const value = (tag: string, content: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([Buffer.from(`${tag}84`, 'hex'), length, content]);
};
const nested = (depth: number): Buffer => (depth === 0 ? Buffer.from('0500', 'hex') : value('30', nested(depth - 1)));
const manyNulls = (count: number): Buffer => value('30', Buffer.from('0500'.repeat(count), 'hex'));

test('a file of hundreds of keys is read; one with more values, or deeper, than any has is refused', () => {
  expect(partsOf(parseAsn1(manyNulls(49_000)))).toHaveLength(49_000);
  expect(() => parseAsn1(manyNulls(50_001))).toThrow(Pkcs12Problem);
  expect(() => parseAsn1(nested(30))).not.toThrow();
  expect(() => parseAsn1(nested(40))).toThrow(Pkcs12Problem);
  expect(() => parseAsn1(value('04', Buffer.alloc(2 * 1024 * 1024 + 1)))).toThrow(Pkcs12Problem);
});

test.each([
  ['020107', 7],
  ['02020100', 256],
  ['02067fffffffffff', 0x7fffffffffff],
  ['02077fffffffffffff', 2 ** 48 - 1],
])('%s is a count', (hex, count) => {
  expect(countOf(parseAsn1(Buffer.from(hex, 'hex')))).toBe(count);
});

test.each(['0200', '020180', '0500', '040107'])('%s is no count', (hex) => {
  expect(() => countOf(parseAsn1(Buffer.from(hex, 'hex')))).toThrow(Pkcs12Problem);
});

test('what is no octets is refused, also within their pieces', () => {
  const octets = (hex: string) => octetsOf(parseAsn1(Buffer.from(hex, 'hex'))).toString('hex');
  expect(octets('04020102')).toBe('0102');
  expect(octets('2406040101040102')).toBe('0102');
  for (const hex of ['0500', '24020500', '2403020101']) expect(() => octets(hex), hex).toThrow(Pkcs12Problem);
  expect(() => octetsOf(undefined)).toThrow(Pkcs12Problem);
});

test('an identifier has as many octets as any that means something', () => {
  expect(oidOf(parseAsn1(Buffer.from('06032a0304', 'hex')))).toBe('1.2.3.4');
  expect(() => oidOf(parseAsn1(value('06', Buffer.alloc(65, 1))))).toThrow(Pkcs12Problem);
  expect(() => oidOf(parseAsn1(Buffer.from('0500', 'hex')))).toThrow(Pkcs12Problem);
});
