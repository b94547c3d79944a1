import { lexer, type Token, type Tokens } from 'marked';
import type { GuidePage, Part, Words } from './document.ts';

/** What a heading is called in links, as where the repository is looked at. */
const idOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

const plain = (words: readonly Words[]): string =>
  words.map((one) => (typeof one === 'string' ? one : one.kind === 'code' ? one.text : plain(one.words))).join('');

const wordsOf = (tokens: readonly Token[] = []): Words[] => tokens.map(wordOf);

const wordOf = (token: Token): Words => {
  switch (token.type) {
    case 'codespan':
      return { kind: 'code', text: (token as Tokens.Codespan).text };
    case 'strong':
    case 'em':
      return { kind: token.type, words: wordsOf(token.tokens) };
    case 'link':
      return { kind: 'link', to: (token as Tokens.Link).href, words: wordsOf(token.tokens) };
    default:
      return 'text' in token ? String(token.text) : token.raw;
  }
};

/** A picture that stands in a paragraph of its own. */
const pictureOf = (token: Token): Part | undefined => {
  const [only, ...others] = 'tokens' in token ? (token.tokens ?? []) : [];
  if (token.type !== 'paragraph' || only?.type !== 'image' || others.length > 0) return undefined;
  const { href, text } = only as Tokens.Image;
  return { kind: 'picture', name: href.replace(/^.*\//, ''), alt: text };
};

const partOf = (token: Token): Part => {
  const picture = pictureOf(token);
  if (picture) return picture;
  switch (token.type) {
    case 'heading': {
      const words = wordsOf(token.tokens);
      return { kind: 'heading', level: (token as Tokens.Heading).depth, id: idOf(plain(words)), words };
    }
    case 'code':
      return { kind: 'code', text: (token as Tokens.Code).text };
    case 'list': {
      const { ordered, items } = token as Tokens.List;
      return { kind: 'list', isOrdered: ordered, items: items.map((item) => partsOf(item.tokens)) };
    }
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      return {
        kind: 'table',
        head: header.map((cell) => wordsOf(cell.tokens)),
        rows: rows.map((row) => row.map((cell) => wordsOf(cell.tokens))),
      };
    }
    default:
      return { kind: 'paragraph', words: 'tokens' in token ? wordsOf(token.tokens) : [token.raw] };
  }
};

const partsOf = (tokens: readonly Token[]): Part[] => tokens.filter(({ type }) => type !== 'space').map(partOf);

/** A page out of its Markdown. What has no place in `Part` stays the text it is. For the build: the interface reads no Markdown. */
export const readPage = (markdown: string): GuidePage => {
  const [first, ...rest] = partsOf(lexer(markdown));
  if (first?.kind !== 'heading') throw new Error('a page of the guide begins with its title');
  return { title: plain(first.words), parts: rest };
};
