/** What is wrong with the shape of a JSON text that parses; undefined when nothing is. */
export type ShapeProblem = { kind: 'duplicate_key'; key: string } | { kind: 'too_deep' };

/** Deeper than any body of ours; what walks a value recursively must not run out of stack. */
const MAX_DEPTH = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Index of the quote that ends the string which begins at `start`. */
const endOfString = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
};

const keyAt = (text: string, start: number, end: number): string => {
  const raw = text.slice(start + 1, end);
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
};

/**
 * Looks for what `JSON.parse` accepts in silence: a key twice in one object, of which two readers may take different
 * ones (RFC 8259, section 4), and nesting that goes too deep. `text` must be valid JSON. One pass, no copies of values.
 */
export const findShapeProblem = (text: string): ShapeProblem | undefined => {
  /** Keys of every open object; null for an open array. */
  const open: (Set<string> | null)[] = [];
  let expectsKey = false;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case QUOTE: {
        const end = endOfString(text, index);
        const keys = open.at(-1);
        if (expectsKey && keys) {
          const key = keyAt(text, index, end);
          if (keys.has(key)) return { kind: 'duplicate_key', key };
          keys.add(key);
          expectsKey = false;
        }
        index = end;
        break;
      }
      case 0x7b: // {
      case 0x5b: // [
        if (open.length === MAX_DEPTH) return { kind: 'too_deep' };
        expectsKey = text.charCodeAt(index) === 0x7b;
        open.push(expectsKey ? new Set() : null);
        break;
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        expectsKey = false;
        break;
      case 0x2c: // ,
        expectsKey = open.at(-1) !== null;
        break;
      default:
    }
  }
  return undefined;
};
