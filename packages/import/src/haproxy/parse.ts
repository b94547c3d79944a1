import { warn } from '../loss.ts';
import type { Place, SourceError, SourceFile } from '../reading.ts';
import { shorten } from '../shorten.ts';

/** One line of a section. */
export interface Line {
  at: Place;
  words: string[];
}

/** A section with its lines. */
export interface Section {
  kind: string;
  name: string;
  /** The `defaults` that it names. */
  from: string | undefined;
  at: Place;
  lines: Line[];
}

const KINDS = new Set([
  ...[
    'global',
    'defaults',
    'frontend',
    'backend',
    'listen',
    'userlist',
    'peers',
    'resolvers',
    'mailers',
    'cache',
    'ring',
  ],
  ...['program', 'http-errors', 'log-forward', 'fcgi-app', 'crt-store', 'traces', 'log-profile', 'acme'],
]);
const NAMED = new Set(['frontend', 'backend', 'listen']);
/** HAProxy has no room for longer ones. */
const MAX_LINE = 2048 * 4;
const MAX_WORDS = 64 * 4;
const MAX_LINES = 500_000;

const WORD = /(?:[^\s"'\\#]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+/y;

const wordsOf = (line: string, at: Place): string[] => {
  const words: string[] = [];
  for (let from = 0; ; ) {
    while (line[from] === ' ' || line[from] === '\t' || line[from] === '\r') from++;
    if (from >= line.length || line[from] === '#') return words;
    WORD.lastIndex = from;
    const [raw] = WORD.exec(line) ?? [];
    if (raw === undefined)
      throw new HaproxyError(
        'a quote is never closed, or a backslash has nothing after it',
        { ...at, column: from + 1 },
        line.slice(from),
      );
    words.push(
      raw.replaceAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/g, (_, double?: string, single?: string, one?: string) =>
        double !== undefined ? double.replaceAll(/\\(.)/g, '$1') : (single ?? one!),
      ),
    );
    if (words.length > MAX_WORDS) throw new HaproxyError(`a line may have ${MAX_WORDS} words`, at, line);
    from += raw.length;
  }
};

/** What is wrong with a configuration of HAProxy, and where. */
export class HaproxyError extends Error {
  readonly found: SourceError;

  constructor(message: string, at: Place, text: string) {
    super(message);
    this.name = 'HaproxyError';
    this.found = { ...warn(at, message), text: shorten(text.trim(), 200) };
  }
}

/** Throws a `HaproxyError` for a file with too many lines: to read half a million of them first would take a second. */
const checkLines = ({ name: file, content }: SourceFile): void => {
  let start = 0;
  for (let number = 0; number < MAX_LINES; number++) {
    const end = content.indexOf('\n', start);
    if (end === -1) return;
    start = end + 1;
  }
  if (start === content.length) return;
  const [text = ''] = content.slice(start, start + MAX_LINE).split('\n');
  throw new HaproxyError(`there are more than ${MAX_LINES} lines`, { file, line: MAX_LINES + 1, column: 1 }, text);
};

/** Reads one file into sections. Throws a `HaproxyError`. */
export const parseHaproxy = (source: SourceFile): Section[] => {
  checkLines(source);
  const { name: file, content } = source;
  const sections: Section[] = [];
  let number = 0;
  for (let from = 0; from < content.length; ) {
    const found = content.indexOf('\n', from);
    const end = found === -1 ? content.length : found;
    const at = { file, line: ++number, column: 1 };
    const text = content.slice(from, Math.min(end, from + MAX_LINE + 1));
    if (text.length > MAX_LINE) throw new HaproxyError(`a line may have ${MAX_LINE} characters`, at, text);
    from = end + 1;
    const words = wordsOf(text, at);
    const [first, name] = words;
    if (first === undefined) continue;
    if (KINDS.has(first)) {
      if (NAMED.has(first) && name === undefined) throw new HaproxyError(`${first} needs a name`, at, text);
      const from = words.indexOf('from', 1);
      const own = from === 1 && first === 'defaults' ? '' : (name ?? '');
      sections.push({ kind: first, name: own, from: from === -1 ? undefined : words[from + 1], at, lines: [] });
    } else {
      const section = sections.at(-1);
      if (!section) throw new HaproxyError('this stands in no section', at, text);
      section.lines.push({ at, words });
    }
  }
  return sections;
};
