import { emptyNode, type PcreFlags, type PcreNode } from './ast.ts';
import { anyByte, byteSet, notNewline, verticalSpaces } from './byte-set.ts';
import { countGroups } from './count-groups.ts';
import { lineEnd, lineStart, lookaround, textEnd, textEndOrFinalNewline, textStart } from './edges.ts';
import { readClass } from './parse-class.ts';
import { type Cursor, readEscape } from './parse-escape.ts';
import { type Options, readOptions } from './parse-options.ts';
import { readQuantifier } from './parse-quantifier.ts';
import { PatternError } from './pattern-error.ts';

/** ModSecurity 2's compile options: what SecLang rules expect unless the operator chooses otherwise. */
export const defaultFlags: PcreFlags = {
  caseless: false,
  dotall: true,
  multiline: false,
  extended: false,
  dollarEndonly: true,
};

/** A tree this deep would exhaust the stack of whoever walks it. */
const maxNesting = 250;
const maxStackedQuantifiers = 4;

const newlineSequence: PcreNode = {
  type: 'atomic',
  body: {
    type: 'alternate',
    items: [
      {
        type: 'concat',
        items: [
          { type: 'set', set: byteSet(0x0d, false) },
          { type: 'set', set: byteSet(0x0a, false) },
        ],
      },
      { type: 'set', set: verticalSpaces },
    ],
  },
};

/** Alternatives of one byte each are one set: smaller automata, and the same language and priorities. */
const alternation = (items: PcreNode[]): PcreNode => {
  if (items.length === 1) return items[0]!;
  const [first] = items;
  if (first?.type === 'set' && items.every((item) => item.type === 'set')) {
    const set = Uint32Array.from(first.set);
    for (const item of items)
      if (item.type === 'set') for (let word = 0; word < 8; word++) set[word]! |= item.set[word]!;
    return { type: 'set', set };
  }
  return { type: 'alternate', items };
};

/** Parses the PCRE that rules use; `source` is Latin-1, one character a byte. Throws PatternError with the offset. */
export const parsePcre = (source: string, flags: PcreFlags): PcreNode => {
  const cursor: Cursor = { source, at: 0 };
  const groupCount = countGroups(source);
  const groupsByName = new Map<string, number>();
  const references: { node: PcreNode & { type: 'backreference' }; group: number | string; offset: number }[] = [];
  let groupsOpened = 0;
  let nesting = 0;
  let isQuoted = false;

  const fail = (message: string, offset = cursor.at): never => {
    throw new PatternError(message, offset);
  };

  const skipIgnored = (options: Options): void => {
    for (;;) {
      if (source.startsWith('(?#', cursor.at)) {
        const end = source.indexOf(')', cursor.at);
        if (end < 0) fail('comment is not closed');
        cursor.at = end + 1;
      } else if (options.extended && /[\t-\r ]/.test(source[cursor.at] ?? '')) cursor.at++;
      else if (options.extended && source[cursor.at] === '#') {
        const end = source.indexOf('\n', cursor.at);
        cursor.at = end < 0 ? source.length : end + 1;
      } else return;
    }
  };

  const reference = (group: number | string, options: Options, offset: number): PcreNode => {
    const node: PcreNode & { type: 'backreference' } = { type: 'backreference', index: 0, caseless: options.caseless };
    references.push({ node, group, offset });
    return node;
  };

  const literal = (byte: number, options: Options): PcreNode => ({ type: 'set', set: byteSet(byte, options.caseless) });

  const closeGroup = (open: number): void => {
    if (source[cursor.at] !== ')') fail('missing ) of the group', open);
    cursor.at++;
  };

  const readCapture = (name: string | null, options: Options, open: number): PcreNode => {
    const index = ++groupsOpened;
    if (name !== null) {
      if (groupsByName.has(name)) fail(`two groups are named ${name}`, open);
      groupsByName.set(name, index);
    }
    const body = readAlternation({ ...options });
    closeGroup(open);
    return { type: 'capture', index, name, body };
  };

  const readGroupName = (close: string): string => {
    const pattern = /[A-Za-z_]\w*/y;
    pattern.lastIndex = cursor.at;
    const name = pattern.exec(source)?.[0] ?? '';
    cursor.at += name.length;
    if (name === '' || source[cursor.at] !== close) fail('malformed group name');
    cursor.at++;
    return name;
  };

  /** Reads a group, cursor after `(`. A flag setting such as `(?i)` changes `options` in place and gives null. */
  const readGroup = (options: Options): PcreNode | null => {
    const open = cursor.at - 1;
    if (source[cursor.at] === '*') return fail('verbs are not supported');
    if (source[cursor.at] !== '?') {
      if (!options.noAutoCapture) return readCapture(null, options, open);
      const body = readAlternation({ ...options });
      closeGroup(open);
      return body;
    }
    const inner = (skip: number): PcreNode => {
      cursor.at += skip;
      const body = readAlternation({ ...options });
      closeGroup(open);
      return body;
    };
    const head = source.slice(cursor.at + 1, cursor.at + 3);
    switch (head[0]) {
      case ':':
        return inner(2);
      case '>':
        return { type: 'atomic', body: inner(2) };
      case '=':
        return lookaround(true, false, inner(2));
      case '!':
        return lookaround(true, true, inner(2));
      case '|':
        return fail('branch reset groups are not supported', open);
      case '(':
        return fail('conditional groups are not supported', open);
      case 'C':
        return fail('callouts are not supported', open);
      case 'R':
      case '&':
      case '+':
        return fail('recursion is not supported', open);
      case '<':
        if (head === '<=') return lookaround(false, false, inner(3));
        if (head === '<!') return lookaround(false, true, inner(3));
        cursor.at += 2;
        return readCapture(readGroupName('>'), options, open);
      case "'":
        cursor.at += 2;
        return readCapture(readGroupName("'"), options, open);
      case 'P':
        cursor.at += 3;
        if (head === 'P<') return readCapture(readGroupName('>'), options, open);
        if (head === 'P=') return reference(readGroupName(')'), options, open);
        return fail('recursion is not supported', open);
    }
    if (/^(?:\d|-\d)/.test(head)) return fail('recursion is not supported', open);
    cursor.at++;
    const changed = readOptions(cursor, options);
    if (source[cursor.at++] === ')') {
      Object.assign(options, changed);
      return null;
    }
    const body = readAlternation(changed);
    closeGroup(open);
    return body;
  };

  const readEscaped = (options: Options): PcreNode | null => {
    const offset = cursor.at - 1;
    const sequence = readEscape(cursor, false, groupCount, groupsOpened);
    switch (sequence.kind) {
      case 'byte':
        return literal(sequence.byte, options);
      case 'set':
        return { type: 'set', set: sequence.set };
      case 'node':
        return sequence.node;
      case 'reference':
        return reference(sequence.group, options, offset);
      case 'newline_sequence':
        return newlineSequence;
      case 'quote':
        isQuoted = true;
        return null;
      case 'unquote':
        return null;
    }
  };

  /** Reads one item without its quantifier; null for what matches nothing by itself, such as `(?i)`. */
  const readAtom = (options: Options): PcreNode | null => {
    const letter = source[cursor.at++]!;
    switch (letter) {
      case '(':
        return readGroup(options);
      case '[':
        return { type: 'set', set: readClass(cursor, options.caseless) };
      case '.':
        return { type: 'set', set: options.dotall ? anyByte : notNewline };
      case '^':
        return options.multiline ? lineStart : textStart;
      case '$':
        if (options.multiline) return lineEnd;
        return options.dollarEndonly ? textEnd : textEndOrFinalNewline;
      case '\\':
        return readEscaped(options);
      case '*':
      case '+':
      case '?':
        return fail('nothing to repeat', cursor.at - 1);
      default:
        return literal(letter.charCodeAt(0), options);
    }
  };

  const readSequence = (options: Options): PcreNode => {
    const items: PcreNode[] = [];
    for (;;) {
      if (isQuoted && source.startsWith('\\E', cursor.at)) {
        cursor.at += 2;
        isQuoted = false;
      }
      if (!isQuoted) skipIgnored(options);
      const letter = source[cursor.at];
      if (letter === undefined || (!isQuoted && (letter === '|' || letter === ')'))) break;
      const start = cursor.at;
      let node: PcreNode | null;
      if (isQuoted) {
        cursor.at++;
        node = literal(letter.charCodeAt(0), options);
        if (source.startsWith('\\E', cursor.at)) {
          cursor.at += 2;
          isQuoted = false;
        }
      } else node = readAtom(options);
      if (node === null) continue;
      for (let stacked = 0; !isQuoted; stacked++) {
        skipIgnored(options);
        const quantifierAt = cursor.at;
        const quantifier = readQuantifier(cursor, options.ungreedy);
        if (quantifier === null) break;
        if (stacked >= maxStackedQuantifiers) fail('too many quantifiers on one item', quantifierAt);
        if (node.type === 'edge' && source[start] !== '(') fail('nothing to repeat', quantifierAt);
        node = { type: 'repeat', body: node, ...quantifier };
      }
      items.push(node);
    }
    return items.length === 0 ? emptyNode : items.length === 1 ? items[0]! : { type: 'concat', items };
  };

  const readAlternation = (options: Options): PcreNode => {
    if (++nesting > maxNesting) fail(`groups nested deeper than ${maxNesting}`);
    const branches = [readSequence(options)];
    while (source[cursor.at] === '|') {
      cursor.at++;
      branches.push(readSequence(options));
    }
    nesting--;
    return alternation(branches);
  };

  const root = readAlternation({ ...flags, ungreedy: false, noAutoCapture: false });
  if (cursor.at < source.length) fail('unmatched )');
  for (const { node, group, offset } of references) {
    const index = typeof group === 'number' ? group : groupsByName.get(group);
    if (index === undefined || index < 1 || index > groupsOpened) {
      throw new PatternError(`reference to group ${group}, which does not exist`, offset);
    }
    node.index = index;
  }
  return root;
};
