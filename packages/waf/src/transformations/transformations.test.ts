import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { transformation, transformationNames } from './registry.ts';

const run = (name: string, input: string): string => {
  const step = transformation(name)!;
  const bytes = Buffer.from(input, 'latin1');
  const out = new Uint8Array(step.bound(bytes.length));
  const written = step.apply(bytes, 0, bytes.length, out, 0);
  return written < 0 ? input : Buffer.from(out.subarray(0, written)).toString('latin1');
};

test.each<[string, string, string]>([
  // Leading zeros must not hide a character (CVE-2025-27110), nor may what follows a bare entity be lost.
  ['htmlEntityDecode', '&#x0003c;script&#00000062;', '<script>'],
  ['htmlEntityDecode', '&ltscript&GT;', '<script>'],
  ['htmlEntityDecode', '&quot;&amp;&nbsp;&#65&#x41;&#;&#x;&apos;&', '"&\xa0AA&#;&#x;&apos;&'],
  ['htmlEntityDecode', `&#${'9'.repeat(40)};`, '\xff'],
  ['htmlEntityDecode', '&#x8000000000000000;&#x4000000000000041;', '\xffA'],
  ['jsDecode', '\\u003cscript\\x3e\\74\\377\\400', '<script><\xff 0'],
  ['jsDecode', '\\uff1cscript', '<script'],
  ['cssDecode', 'ja\\vasc\\72 ipt\\00ff1c\\', 'javascript<'],
  ['urlDecodeUni', '%u003c%uFF1C%u2039%u0107%u1141%zz%u12', '<<<cA%zz%u12'],
  ['urlDecode', '%41%u0041%4', 'A%u0041%4'],
  ['utf8toUnicode', '\xc3\xa9\xe2\x80\xa8\xf0\x9f\x98\x80', '%u00e9%u2028%u1f600'],
  ['utf8toUnicode', 'a\xc0\xafb\xe2\x28c\0d\0', 'a%u002f\xc0b(cd\0'],
  ['cmdLine', 'w"g\'e^t  ,; /etc (x)\\', 'wget/etc(x)'],
  ['base64Decode', 'PHNj\r\ncmlwdA==', '<script'],
  ['base64Decode', 'PHNj!cmlwdA==', '<sc'],
  ['base64DecodeExt', 'P=H.Nj!cmlwdA', '<script'],
  ['base64Encode', 'any carnal pleas', 'YW55IGNhcm5hbCBwbGVhcw=='],
  ['sqlHexDecode', 'a 0x414 0X42z 0x', 'a A4 Bz 0x'],
  ['normalisePath', '/a/b/.././c//d/', '/a/c/d/'],
  ['normalisePath', 'x/.../c', 'x/c'],
  ['normalizePathWin', 'C:\\a\\..\\b', 'C:/b'],
  ['removeComments', 'a/*b*/c<!--d-->e--f', 'ace'],
  ['replaceComments', 'UNION/**/SELECT/*', 'UNION SELECT '],
  ['removeWhitespace', 'a \xc2\xa0b\v', 'ab'],
  ['compressWhitespace', 'a \t b\nc', 'a b c'],
  ['compressWhitespace', 'a b\tc', 'a b c'],
  ['cssDecode', '\\ff41\\ff00\\ff5f\\ff5e', 'a\0_~'],
  ['escapeSeqDecode', 'a\\x3cb\\74\\1012\\400', 'a<b<A2\0'],
  ['escapeSeqDecode', '\\n\\a\\q\\\\\\xzz\\X41\\8\\x4', '\n\x07q\\xzzA8x4'],
  ['escapeSeqDecode', '\\101\\', 'A\\'],
  ['length', 'x'.repeat(1205), '1205'],
  ['hexEncode', '\x00\xff', '00ff'],
])('%s %j', (name, input, output) => {
  expect(run(name, input)).toBe(output);
});

test('names are found in any case, and others not at all', () => {
  expect(transformation('LowerCase')).toBe(transformation('lowercase'));
  expect(transformation('NORMALIZEPATH')).toBe(transformation('normalisePath'));
  expect(transformation('lower')).toBeUndefined();
});

describe.each(transformationNames)('%s on any bytes', (name) => {
  const step = transformation(name)!;
  // Dense in the bytes that escapes are made of, so that decoders get far.
  const anyByte = fc.integer({ min: 0, max: 255 });
  const dense = fc.constantFrom(
    ...Buffer.from('%\\&#xXuU0123fFaA/*-.<!>;+ \t\n"\'^,(=\x00\xc3\xa9\xf0\xe2\x80', 'latin1'),
  );
  const input = fc.array(fc.oneof(anyByte, dense, dense), { maxLength: 80 }).map((bytes) => Uint8Array.from(bytes));

  test('sees nothing of what stands beside its value', () => {
    const applied = (bytes: Uint8Array, start: number, end: number): string => {
      const out = new Uint8Array(step.bound(end - start));
      const written = step.apply(bytes, start, end, out, 0);
      return Buffer.from(written < 0 ? bytes.subarray(start, end) : out.subarray(0, written)).toString('latin1');
    };
    fc.assert(
      fc.property(input, input, input, (before, value, after) => {
        const among = Buffer.concat([before, value, after]);
        const end = before.length + value.length;
        expect(applied(among, before.length, end)).toBe(applied(value, 0, value.length));
      }),
      // What an escape at the very end would go on with.
      {
        examples: ['&#', '\\', '\\x4', '%', '%4', '%u003', '\\u003', '0x', '/*', '\xc3', '.', '*'].map(
          (text) =>
            [Uint8Array.of(), Buffer.from(text, 'latin1'), Buffer.from('x41;c/')] as [
              Uint8Array,
              Uint8Array,
              Uint8Array,
            ],
        ),
      },
    );
  });

  test('stays inside its bound, leaves its input alone, and answers -1 exactly when nothing changes', () => {
    fc.assert(
      fc.property(input, (bytes) => {
        const margin = 8;
        const before = bytes.slice();
        const out = new Uint8Array(step.bound(bytes.length) + 2 * margin).fill(0xee);
        const written = step.apply(bytes, 0, bytes.length, out, margin);
        expect(bytes).toEqual(before);
        expect(written).toBeLessThanOrEqual(step.bound(bytes.length));
        expect(out.subarray(0, margin).every((byte) => byte === 0xee)).toBe(true);
        expect(out.subarray(out.length - margin).every((byte) => byte === 0xee)).toBe(true);
        if (written >= 0) expect(Buffer.from(out.subarray(margin, margin + written))).not.toEqual(Buffer.from(bytes));
        if (step.triggers && !bytes.some((byte) => step.triggers![byte] === 1)) expect(written).toBe(-1);
      }),
      { numRuns: 2000 },
    );
  });

  test('works on a range in the middle of a buffer, into the same buffer behind it', () => {
    fc.assert(
      fc.property(input, (bytes) => {
        const arena = new Uint8Array(20 + bytes.length + step.bound(bytes.length)).fill(0x25);
        arena.set(bytes, 10);
        const written = step.apply(arena, 10, 10 + bytes.length, arena, 20 + bytes.length);
        const alone = new Uint8Array(step.bound(bytes.length));
        const expected = step.apply(bytes, 0, bytes.length, alone, 0);
        expect(written).toBe(expected);
        if (expected >= 0) {
          expect(Buffer.from(arena.subarray(20 + bytes.length, 20 + bytes.length + expected))).toEqual(
            Buffer.from(alone.subarray(0, expected)),
          );
        }
      }),
      { numRuns: 300 },
    );
  });
});
