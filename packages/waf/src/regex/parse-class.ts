import { addByte, addRange, addSet, type ByteSet, emptySet, foldCase, invertSet, posixClasses } from './byte-set.ts';
import { type Cursor, readEscape } from './parse-escape.ts';
import { PatternError } from './pattern-error.ts';

const readPosixClass = (cursor: Cursor, caseless: boolean): ByteSet | null => {
  const pattern = /\[([:.=])(\^?)([^\]\\:.=]*)\1\]/y;
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.source);
  if (found === null) return null;
  const [text, delimiter, negation, name = ''] = found;
  const isCased = name === 'upper' || name === 'lower';
  const set = posixClasses[caseless && isCased ? 'alpha' : name];
  if (delimiter !== ':') throw new PatternError('POSIX collating elements are not supported', cursor.at);
  if (set === undefined) throw new PatternError(`unknown POSIX class [:${name}:]`, cursor.at);
  cursor.at += text.length;
  return negation === '^' ? invertSet(set) : set;
};

/** Reads a class (cursor after its `[`) up to and with its `]`. Throws PatternError. */
export const readClass = (cursor: Cursor, caseless: boolean): ByteSet => {
  const start = cursor.at - 1;
  const { source } = cursor;
  const isNegated = source[cursor.at] === '^';
  if (isNegated) cursor.at++;
  const set = emptySet();
  const bodyStart = cursor.at;
  let isQuoted = false;

  /** The next member: a byte, -1 for a set that was added whole, -2 for the end, -3 for nothing at all. */
  const readMember = (): number => {
    const letter = source[cursor.at];
    if (letter === undefined) throw new PatternError('missing ] of the class', start);
    if (isQuoted) {
      if (source.startsWith('\\E', cursor.at)) {
        cursor.at += 2;
        isQuoted = false;
        return -3;
      }
      return source.charCodeAt(cursor.at++);
    }
    if (letter === ']' && cursor.at > bodyStart) {
      cursor.at++;
      return -2;
    }
    if (letter === '[') {
      const posix = readPosixClass(cursor, caseless);
      if (posix !== null) {
        addSet(set, posix);
        return -1;
      }
    }
    cursor.at++;
    if (letter !== '\\') return letter.charCodeAt(0);
    const sequence = readEscape(cursor, true, 0, 0);
    if (sequence.kind === 'byte') return sequence.byte;
    if (sequence.kind === 'set') {
      addSet(set, sequence.set);
      return -1;
    }
    isQuoted = sequence.kind === 'quote';
    return -3;
  };

  for (;;) {
    const first = readMember();
    if (first === -2) break;
    if (first === -3 || first === -1) continue;
    const dash = cursor.at;
    if (isQuoted || source[cursor.at] !== '-' || source[cursor.at + 1] === ']' || source[cursor.at + 1] === undefined) {
      addByte(set, first);
      continue;
    }
    cursor.at++;
    let last = readMember();
    while (last === -3) last = readMember();
    if (last === -2) {
      addByte(set, first);
      addByte(set, 0x2d);
      break;
    }
    if (last === -1) {
      // `[a-\d]`: the hyphen stands for itself.
      addByte(set, first);
      addByte(set, 0x2d);
      continue;
    }
    if (last < first) throw new PatternError('range out of order in the class', dash - 1);
    addRange(set, first, last);
  }
  const folded = caseless ? foldCase(set) : set;
  return isNegated ? invertSet(folded) : folded;
};
