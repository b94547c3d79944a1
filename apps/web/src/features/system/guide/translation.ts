import type { GuidePage, Part, Words } from './document.ts';

const wordsLed = (words: readonly Words[], lead: (to: string) => string): Words[] =>
  words.map((word) => {
    if (typeof word === 'string' || word.kind === 'code') return word;
    const inner = wordsLed(word.words, lead);
    return word.kind === 'link' ? { ...word, to: lead(word.to), words: inner } : { ...word, words: inner };
  });

const partLed = (part: Part, lead: (to: string) => string): Part => {
  switch (part.kind) {
    case 'heading':
    case 'paragraph':
      return { ...part, words: wordsLed(part.words, lead) };
    case 'code':
    case 'picture':
      return part;
    case 'list':
      return { ...part, items: part.items.map((item) => item.map((each) => partLed(each, lead))) };
    case 'table':
      return {
        ...part,
        head: part.head.map((cell) => wordsLed(cell, lead)),
        rows: part.rows.map((row) => row.map((cell) => wordsLed(cell, lead))),
      };
  }
};

const idsOf = (page: GuidePage): string[] => page.parts.flatMap((part) => (part.kind === 'heading' ? [part.id] : []));

/** The ids of a translated page's headings, each with that of the same heading of its original. */
export const idsBetween = (page: GuidePage, original: GuidePage): Map<string, string> => {
  const wanted = idsOf(original);
  return new Map(idsOf(page).map((id, place) => [id, wanted[place] ?? id]));
};

/**
 * A translated page as the interface shows it: its headings have the ids of its original's, so that a link holds in whatever
 * language it is followed. `lead`: where a link of it leads then.
 */
export const asOriginal = (page: GuidePage, original: GuidePage, lead: (to: string) => string): GuidePage => {
  const ids = idsBetween(page, original);
  return {
    ...page,
    parts: page.parts
      .map((part) => partLed(part, lead))
      .map((part) => (part.kind === 'heading' ? { ...part, id: ids.get(part.id) ?? part.id } : part)),
  };
};
