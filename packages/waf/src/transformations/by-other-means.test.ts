import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { transformation } from './registry.ts';
import type { Transformation } from './transformation.ts';
import { createUrlDecodeUni } from './url-decode.ts';

const latin1 = (codes: Iterable<number>): string => Buffer.from([...codes]).toString('latin1');
const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');

/** What stands around the value, and would be read for a part of it, is none. */
const run = (step: Transformation, input: string): string => {
  const bytes = bytesOf(`A${input}A`);
  const out = new Uint8Array(step.bound(input.length));
  const written = step.apply(bytes, 1, bytes.length - 1, out, 0);
  return written < 0 ? input : latin1(out.subarray(0, written));
};

const eachByte =
  (map: (byte: number) => number) =>
  (text: string): string =>
    latin1(bytesOf(text).map(map));
const bitsOf = (byte: number): number => byte.toString(2).replaceAll('0', '').length;
/** The byte of an escape with four digits: full-width forms become ASCII. */
const narrow = (code: number): string =>
  String.fromCharCode(code > 0xff00 && code < 0xff5f ? (code & 0xff) + 0x20 : code & 0xff);
const hex = (digits: string): number => Number.parseInt(digits, 16);
const controls: Readonly<Record<string, string>> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };
const entities: Readonly<Record<string, string>> = { quot: '"', amp: '&', lt: '<', gt: '>', nbsp: '\xa0' };
const digest = (name: string) => (text: string) => latin1(createHash(name).update(bytesOf(text)).digest());

/** The same by JavaScript's own means, and the bytes that are dense in what is tried. */
const means: readonly [name: string | Transformation, dense: string, other: (text: string) => string][] = [
  ['lowercase', 'AZaz@[`{', (text) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())],
  ['uppercase', 'AZaz@[`{', (text) => text.replace(/[a-z]/g, (letter) => letter.toUpperCase())],
  ['replaceNulls', '\0 ', (text) => text.replaceAll('\0', ' ')],
  ['removeNulls', '\0 ', (text) => text.replaceAll('\0', '')],
  ['parityZero7bit', '', eachByte((byte) => byte & 0x7f)],
  ['parityEven7bit', '', eachByte((byte) => (bitsOf(byte) % 2 === 1 ? byte | 0x80 : byte & 0x7f))],
  ['parityOdd7bit', '', eachByte((byte) => (bitsOf(byte) % 2 === 1 ? byte & 0x7f : byte | 0x80))],
  ['trim', ' \t\n\v\f\rx', (text) => text.replace(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g, '')],
  ['trimLeft', ' \t\n\v\f\rx', (text) => text.replace(/^[ \t\n\v\f\r]+/, '')],
  ['trimRight', ' \t\n\v\f\rx', (text) => text.replace(/[ \t\n\v\f\r]+$/, '')],
  ['removeWhitespace', ' \t\n\v\f\r\xa0\xc2', (text) => text.replace(/[ \t\n\v\f\r\xa0\xc2]/g, '')],
  ['length', '', (text) => String(text.length)],
  ['md5', '', digest('md5')],
  ['sha1', '', digest('sha1')],
  ['hexEncode', '', (text) => bytesOf(text).toString('hex')],
  ['base64Encode', '', (text) => bytesOf(text).toString('base64')],
  [
    'urlEncode',
    ' *-_.~aZ09',
    (text) => text.replace(/[^A-Za-z0-9*]/g, (byte) => (byte === ' ' ? '+' : `%${bytesOf(byte).toString('hex')}`)),
  ],
  [
    'urlDecode',
    '%%%4f5Ag+ ',
    (text) => text.replace(/%([0-9a-f]{2})|\+/gi, (_, digits?: string) => (digits ? latin1([hex(digits)]) : ' ')),
  ],
  [
    createUrlDecodeUni(null),
    '%%%uU0fF15eg+',
    (text) =>
      text.replace(/%u([0-9a-f]{4})|%([0-9a-f]{2})|\+/gi, (_, four?: string, two?: string) =>
        four ? narrow(hex(four)) : two ? latin1([hex(two)]) : ' ',
      ),
  ],
  [
    'jsDecode',
    '\\\\\\ux0f15eF3478nav',
    (text) =>
      text.replace(
        /\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-3][0-7]{0,2}|[4-7][0-7]?)|([\s\S]))/g,
        (_, four?: string, two?: string, octal?: string, other?: string) => {
          if (four) return narrow(hex(four));
          if (two) return latin1([hex(two)]);
          return octal ? latin1([Number.parseInt(octal, 8)]) : (controls[other!] ?? other!);
        },
      ),
  ],
  [
    'cssDecode',
    '\\\\\\0f15eFg \t\n',
    (text) =>
      text.replace(/\\(?:([0-9a-f]{1,6})[ \t\n\v\f\r]?|([\s\S])|$)/gi, (_, digits?: string, other = '') =>
        digits ? narrow(hex(digits)) : other === '\n' ? '' : other,
      ),
  ],
  [
    'sqlHexDecode',
    '00xX4f1g',
    (text) =>
      text.replace(/0x((?:[0-9a-f]{2})+)/gi, (_, digits: string) => Buffer.from(digits, 'hex').toString('latin1')),
  ],
  ['removeCommentsChar', '/*<!->-#', (text) => text.replace(/\/\*|\*\/|<!--|-->|--|#/g, '')],
  ['replaceComments', '/*/*x', (text) => text.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, ' ')],
  [
    'cmdLine',
    '"\'\\^ ,;\t\r\n/(aA',
    (text) =>
      text
        .replace(/["'\\^]/g, '')
        .replace(/[ ,;\t\r\n]+/g, ' ')
        .replace(/ ([/(])/g, '$1')
        .replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
  ],
  [
    'htmlEntityDecode',
    '&&&#xX0159fg;qQuotampltgnbs',
    (text) =>
      text.replace(
        /&(?:#(?:x([0-9a-f]+)|([0-9]+))|(quot|amp|lt|gt|nbsp));?/gi,
        (_, sixteen?: string, ten?: string, name?: string) => {
          if (name) return entities[name.toLowerCase()]!;
          const code = BigInt(sixteen ? `0x${sixteen}` : ten!);
          return latin1([code >= 2n ** 63n ? 0xff : Number(code & 0xffn)]);
        },
      ),
  ],
];

test.each(means)('%o, of any bytes, is what JavaScript makes of them', (name, dense, other) => {
  const step = typeof name === 'string' ? transformation(name)! : name;
  const anyByte = fc.integer({ min: 0, max: 255 });
  const near = dense === '' ? anyByte : fc.constantFrom(...bytesOf(dense));
  const input = fc.array(fc.oneof(anyByte, near, near, near, near), { maxLength: 60 }).map(latin1);
  // The same ones each time: a difference is no accident.
  fc.assert(
    fc.property(input, (text) => {
      // Nothing has nothing in it: no transformation makes something of it but these.
      if (text === '') return;
      expect(bytesOf(run(step, text)).toString('hex')).toBe(bytesOf(other(text)).toString('hex'));
    }),
    { seed: 20_261_122, numRuns: 1_000 },
  );
  // And every byte by itself.
  for (let byte = 0; byte < 256; byte++) {
    expect(run(step, latin1([byte]))).toBe(other(latin1([byte])));
    expect(run(step, latin1([0x5c, byte, 0x41]))).toBe(other(latin1([0x5c, byte, 0x41])));
  }
});

test('what was encoded is decoded to what it was', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 60 }), (bytes) => {
      const text = latin1(bytes);
      for (const [name, form] of [
        ['hexDecode', 'hex'],
        ['base64Decode', 'base64'],
        ['base64DecodeExt', 'base64'],
      ] as const)
        expect(run(transformation(name)!, bytesOf(text).toString(form))).toBe(text);
      expect(run(transformation('urlDecode')!, run(transformation('urlEncode')!, text))).toBe(text);
    }),
    { seed: 20_261_122, numRuns: 500 },
  );
});
