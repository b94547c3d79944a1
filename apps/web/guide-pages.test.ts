import { expect, test } from 'vitest';
import { bothOf, GUIDE_FILES } from './guide-pages.ts';
import { views as german } from './src/app/texts/common.de.ts';
import { views as english } from './src/app/texts/common.en.ts';
import type { GuidePage, Part, Words } from './src/features/system/guide/document.ts';

/** Pages that are in English only; the interface says so. */
const ENGLISH_ONLY: readonly string[] = ['limits.md', 'not-yet.md', 'performance.md'];

/** Where a link leads, from whichever folder. */
const placeOf = (link: string): string => (link.startsWith('https:') ? link : link.replace(/^.*\/|^(?=\w)/, 'page '));

/** What words say that no translation changes: code, links and numbers. `1,024` and `2.5` are `1.024` and `2,5` in German. */
const heldIn = (words: readonly Words[], language: 'en' | 'de'): string[] =>
  words.flatMap((word) => {
    if (typeof word === 'string') {
      const [thousands, decimals] = language === 'en' ? [/,(?=\d{3}(?!\d))/, '.'] : [/\.(?=\d{3}(?!\d))/, ','];
      return (word.match(/(?<![\p{L}\d])\d+(?:[.,]\d+)*/gu) ?? []).map(
        (number) => `number ${number.replaceAll(new RegExp(thousands, 'g'), '').replace(decimals, '.')}`,
      );
    }
    if (word.kind === 'code') return [`code ${word.text}`];
    const inner = heldIn(word.words, language);
    return word.kind === 'link' ? [`link ${placeOf(word.to)}`, ...inner] : inner;
  });

/** What a part is made of, whatever language it is in. The order of words is the language's. */
const shapeOf = (part: Part, language: 'en' | 'de'): unknown => {
  const held = (words: readonly Words[]) => heldIn(words, language).toSorted();
  switch (part.kind) {
    case 'heading':
      return { heading: part.id, level: part.level, held: held(part.words) };
    case 'paragraph':
      return { paragraph: held(part.words) };
    case 'code':
      return { code: part.text };
    case 'picture':
      expect(part.alt, `what ${part.name} shows`).not.toBe('');
      return { picture: part.name };
    case 'list':
      return {
        isOrdered: part.isOrdered,
        items: part.items.map((item) => item.map((each) => shapeOf(each, language))),
      };
    case 'table':
      return { head: part.head.map(held), rows: part.rows.map((row) => row.map(held)) };
  }
};

const shapesOf = (page: GuidePage, language: 'en' | 'de') => page.parts.map((part) => shapeOf(part, language));

const PAGES = GUIDE_FILES.map((file) => ({ file, ...bothOf(file) }));

test.each(PAGES)('$file says the same in German: whoever changes one changes the other', ({ file, en, de }) => {
  if (ENGLISH_ONLY.includes(file)) return expect(de, 'it is not in English only').toBeUndefined();
  if (de === undefined) throw new Error('it has no German page in docs/guide/de, and is not listed as English only');
  expect(shapesOf(de, 'de')).toEqual(shapesOf(en, 'en'));
});

/** Screens that a page says it tells of, in its first words. */
const screensIn = ({ parts: [first] }: GuidePage): string[] =>
  first?.kind === 'paragraph' &&
  typeof first.words[0] === 'string' &&
  /^In (?:the web interface|der Oberfläche): $/.test(first.words[0])
    ? first.words.flatMap((word) => (typeof word !== 'string' && word.kind === 'strong' ? word.words.map(String) : []))
    : [];

test('pages call the screens that they tell of as the navigation does', () => {
  expect(PAGES.flatMap(({ en }) => screensIn(en)).length).toBeGreaterThan(15);
  const germanOf = new Map(
    Object.entries(english).map(([name, text]) => [text as string, german[name as keyof typeof german]]),
  );
  for (const { en, de } of PAGES)
    if (de) expect(screensIn(de)).toEqual(screensIn(en).map((name) => germanOf.get(name)));
});

test('each thing that a translation may not change is compared', () => {
  const words: Words[] = [
    '1,024 and 2.5 of 3.3.4',
    { kind: 'code', text: 'a' },
    { kind: 'link', to: 'x.md#y', words: ['CRS'] },
  ];
  expect(heldIn(words, 'en')).toEqual(['number 1024', 'number 2.5', 'number 3.3.4', 'code a', 'link page x.md#y']);
  expect(heldIn(['1.024 und 2,5 von 3.3.4'], 'de')).toEqual(['number 1024', 'number 2.5', 'number 3.3.4']);
});
