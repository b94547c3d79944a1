import fc from 'fast-check';
import { expect, test } from 'vitest';
import { givenArena, textOf } from './given-arena.ts';
import { parseXml } from './xml.ts';

const parse = (body: Uint8Array | string, limits = { maxArguments: 1000, maxDepth: 50 }) => {
  const texts: string[] = [];
  const attributes: string[] = [];
  const contents: string[] = [];
  const instructions: string[] = [];
  const { error } = parseXml(
    typeof body === 'string' ? Buffer.from(body) : body,
    {
      text: (span) => texts.push(textOf(span)),
      attribute: (span) => attributes.push(textOf(span)),
      instruction: (span) => instructions.push(textOf(span)),
      content: (span) => contents.push(textOf(span)),
    },
    givenArena(),
    limits,
  );
  return { texts, attributes, instructions, contents, error };
};

test('hands over texts, attributes and the whole content, references resolved', () => {
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!-- <no> --><a b="1&lt;2" c='"'> hi &amp; <b x="y"/>there<![CDATA[<x>&amp;]]>&#65;&#x20ac;<?pi ?></a>
<!-- end -->`;
  expect(parse(text)).toEqual({
    error: null,
    attributes: ['1<2', '"', 'y'],
    instructions: ['pi '],
    texts: [' hi & ', `there<x>&amp;A${Buffer.from('€').toString('latin1')}`],
    contents: [` hi & there<x>&amp;A${Buffer.from('€').toString('latin1')}`],
  });
});

test.each([
  ['<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', 'document type'],
  ['<a>&x;</a>', 'not one of the five'],
  ['<a>&#0;</a>', 'malformed character reference'],
  ['<a>&#x110000;</a>', 'malformed character reference'],
  ['<a>&#65</a>', 'malformed character reference'],
  ['<a><b></a></b>', 'end tag of another element'],
  ['</a>', 'end tag without a start tag'],
  ['<a/><b/>', 'second root'],
  ['<a b=1/>', 'without quotes'],
  ['<a b/>', 'attribute without a value'],
  ['<a b="<"/>', '< in an attribute'],
  ['<a b="1"c="2"/>', 'blank expected'],
  ['<a', 'blank expected'],
  ['<a>', 'without an end tag'],
  ['<a>x</a>y', 'outside the root'],
  ['<a><!-- </a>', 'unterminated comment'],
  ['<a><![CDATA[</a>', 'unterminated CDATA'],
  ['<?xml version="1.0" encoding="UTF-7"?><a/>', 'encoding'],
  [`<?xml version="1.0"${' '.repeat(500)}encoding="UTF-7"?><a/>`, 'declaration without an end'],
  [`<?xml version="1.0" encoding${' '.repeat(30)}=${' '.repeat(30)}"UTF-7"?><a/>`, 'encoding'],
  [`<?xml version="1.0" encoding="UTF-7${' '.repeat(50)}"?><a/>`, 'encoding'],
  ['<?xml version=">" encoding="UTF-7"?><a/>', 'encoding'],
  ['<?xml version="1.0" encoding="UTF-16"?><a/>', 'encoding'],
  ['<\0a\0/\0>\0', 'name expected'],
  ['', 'no root element'],
])('%j is refused: %s', (text, reason) => {
  expect(parse(text).error).toContain(reason);
});

test('what came before an error is handed over', () => {
  expect(parse('<a b="1">one<c>two</d>')).toMatchObject({
    attributes: ['1'],
    texts: ['one', 'two'],
    contents: ['onetwo'],
  });
});

test('stops at the limits of depth and number', () => {
  expect(parse('<a>'.repeat(1_000_000)).error).toContain('deeper than the limit');
  const many = parse(`<a>${'<b c="1"/>'.repeat(5000)}</a>`, { maxArguments: 10, maxDepth: 5 });
  expect(many.error).toContain('more texts and attributes');
  expect(many.attributes.length).toBeLessThanOrEqual(11);
});

test('takes any bytes, and gives no more than it took', () => {
  const piece = fc.constantFrom(
    '<a',
    '>',
    '</a>',
    '<a>',
    ' b=',
    '"',
    "'",
    '&lt;',
    '&#65;',
    '&',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '<?',
    '?>',
    'text',
    '\0',
    '\xff',
    ' ',
    '/',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 25 }), (pieces) => {
      const body = Buffer.from(`<a>${pieces.join('')}`, 'latin1');
      const { texts, attributes, contents } = parse(body);
      expect(texts.join('').length + attributes.join('').length).toBeLessThanOrEqual(body.length);
      expect(contents.join('').length).toBeLessThanOrEqual(body.length);
    }),
    { numRuns: 5000 },
  );
});
