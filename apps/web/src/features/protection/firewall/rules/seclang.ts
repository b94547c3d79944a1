import { HighlightStyle, StreamLanguage, type StringStream, syntaxHighlighting } from '@codemirror/language';
import { tags } from '@lezer/highlight';

/** Where the reader is: `part` of a directive, and the quotes it is in. */
interface Place {
  /** What the directive is; empty between directives. */
  directive: string;
  /** Which of its parts comes next, from 0. */
  part: number;
  quote: '"' | "'" | undefined;
  /** The quotes hold actions, not what is looked for. */
  isActions: boolean;
  /** The line ends in a backslash: the directive goes on. */
  goesOn: boolean;
}

/** What decides about a request. */
const DECIDES = /^(?:allow|block|deny|drop|pass|proxy|redirect)\b/;
const VARIABLES = new Set(['secrule', 'secruleupdatetargetbyid', 'secruleupdatetargetbytag']);

const begin = (): Place => ({ directive: '', part: 0, quote: undefined, isActions: false, goesOn: false });

const readActions = (stream: StringStream, { quote = '"' }: Place): string | null => {
  if (stream.eat(quote)) return 'string';
  if (stream.match(DECIDES)) return 'keyword';
  if (stream.match(/^t:[\w.]+/)) return 'typeName';
  if (stream.match(/^[A-Za-z_]+(?=[:,"'])/)) return 'propertyName';
  if (stream.match(/^%\{[^}"]*\}/)) return 'variableName';
  if (stream.match(/^\d+/)) return 'number';
  if (stream.match(/^'(?:[^'\\]|\\.)*'?/)) return 'string';
  stream.next();
  return null;
};

const readLookedFor = (stream: StringStream, { quote = '"' }: Place): string => {
  if (stream.match(/^!?@[A-Za-z]+/)) return 'operator';
  if (stream.match(/^%\{[^}"]*\}/)) return 'variableName';
  while (!stream.eol()) {
    const next = stream.peek();
    if (next === quote || (next === '%' && stream.match(/^%\{[^}"]*\}/, false))) break;
    stream.next();
    if (next === '\\') stream.next();
  }
  return 'string';
};

const readQuoted = (stream: StringStream, place: Place): string | null => {
  if (stream.peek() === place.quote) {
    stream.next();
    place.quote = undefined;
    place.part += 1;
    return 'string';
  }
  return place.isActions ? readActions(stream, place) : readLookedFor(stream, place);
};

const openQuote = (stream: StringStream, place: Place, quote: '"' | "'"): string => {
  stream.next();
  place.quote = quote;
  place.isActions = place.directive.includes('action') || (place.directive === 'secrule' && place.part >= 2);
  return 'string';
};

const readBare = (stream: StringStream, place: Place): string | null => {
  if (stream.match(/^[^\s"'\\]+/) === null) {
    stream.next();
    return null;
  }
  place.part += 1;
  if (VARIABLES.has(place.directive)) return 'variableName';
  if (/^\d+(?:-\d+)?$/.test(stream.current())) return 'number';
  return 'atom';
};

/** One token of SecLang; its style, by the name of a tag. */
const readToken = (stream: StringStream, place: Place): string | null => {
  if (stream.sol()) {
    if (!place.goesOn) Object.assign(place, begin());
    place.goesOn = /\\\s*$/.test(stream.string);
  }
  if (stream.eatSpace()) return null;
  if (place.quote) return readQuoted(stream, place);
  if (place.directive === '') {
    if (stream.peek() === '#') {
      stream.skipToEnd();
      return 'comment';
    }
    if (stream.match(/^[A-Za-z]\w*/) === null) {
      stream.next();
      return 'invalid';
    }
    place.directive = stream.current().toLowerCase();
    place.part = place.directive === 'secaction' || place.directive === 'secdefaultaction' ? 2 : 0;
    return /^(?:sec|include)/.test(place.directive) ? 'keyword' : 'invalid';
  }
  const next = stream.peek();
  if (next === '"' || next === "'") return openQuote(stream, place, next);
  return readBare(stream, place);
};

const language = StreamLanguage.define<Place>({
  name: 'seclang',
  startState: begin,
  copyState: (place) => ({ ...place }),
  token: readToken,
  languageData: { commentTokens: { line: '#' }, closeBrackets: { brackets: ['"', "'"] } },
});

/** Each reads at 4.5:1 on the ground of its scheme. */
const colours = HighlightStyle.define([
  { tag: tags.comment, color: 'light-dark(#5f6b71, #a3adb1)', fontStyle: 'italic' },
  { tag: tags.keyword, color: 'light-dark(#0b6e69, #72c4ba)', fontWeight: '600' },
  { tag: tags.variableName, color: 'light-dark(#1d5ca3, #8ab9ec)' },
  { tag: tags.operator, color: 'light-dark(#8a2c6b, #e79bcb)', fontWeight: '600' },
  { tag: tags.string, color: 'light-dark(#6b4a00, #e6c878)' },
  { tag: tags.propertyName, color: 'light-dark(#46525a, #c8d0d3)' },
  { tag: tags.typeName, color: 'light-dark(#5b3fa0, #c2aef2)' },
  { tag: tags.number, color: 'light-dark(#9a3412, #f0a883)' },
  { tag: tags.atom, color: 'light-dark(#9a3412, #f0a883)' },
  { tag: tags.invalid, color: 'light-dark(#b3261e, #f29b99)' },
]);

/** SecLang, in colours. */
export const seclang = [language, syntaxHighlighting(colours)];
