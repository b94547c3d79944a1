import type { Text } from './ast.ts';
import type { DiagnosticSink } from './diagnostic.ts';

const backslash = '\\';
/** In UTF-8, read as Latin-1. */
const byteOrderMark = '\xef\xbb\xbf';

/**
 * Joins physical lines that end in a backslash and drops comments and blank lines. A comment that ends in a backslash swallows
 * the next line, as it does for ModSecurity; when that line looks like a directive, a warning says so. A byte order mark, as editors
 * on Windows write it, is passed over.
 */
export const readLogicalLines = (file: string, source: string, diagnostics: DiagnosticSink): Text[] => {
  const text = source.startsWith(byteOrderMark) ? source.slice(byteOrderMark.length) : source;
  const physical = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  const lines: Text[] = [];
  for (let first = 0; first < physical.length; ) {
    let last = first;
    while (last + 1 < physical.length && physical[last]!.endsWith(backslash)) last++;
    const parts = physical.slice(first, last + 1).map((part, at) => (first + at < last ? part.slice(0, -1) : part));
    if (/^\s*#/.test(parts[0]!)) {
      for (const [at, part] of parts.entries()) {
        if (at > 0 && /^\s*(?:Sec[A-Z]|Include\s)/.test(part)) {
          const place = { file, line: first + at + 1, column: 1 };
          diagnostics.warning(place, 'This line belongs to the comment above, which ends in a backslash', part.trim());
        }
      }
    } else if (parts.some((part) => part.trim() !== '')) {
      lines.push(joinedText(file, first + 1, parts));
    }
    first = last + 1;
  }
  return lines;
};

const joinedText = (file: string, firstLine: number, parts: readonly string[]): Text => {
  const starts: number[] = [];
  let length = 0;
  for (const part of parts) {
    starts.push(length);
    length += part.length;
  }
  return {
    value: parts.join(''),
    placeOf(index) {
      let at = starts.length - 1;
      while (at > 0 && starts[at]! > index) at--;
      return { file, line: firstLine + at, column: index - starts[at]! + 1 };
    },
  };
};
