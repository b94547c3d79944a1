import { childrenOf, placesOf } from './syntax.ts';

/** A file's text that notes which of its parts have run. */
export interface CountedText {
  readonly text: string;
  /** Number of the part that the position lies in. */
  partAt(position: number): number;
}

const BLOCKS: Readonly<Record<string, string>> = { BlockStatement: 'body', Program: 'body', SwitchCase: 'consequent' };

/**
 * Puts a note at the start of each statement and each arrow function's expression. Parts that have run are appended to the
 * file `visits` by number, once a process: child processes and threads load the same text and are counted, too.
 */
export const countVisits = (file: string, text: string, visits: string): CountedText => {
  const parts: { start: number; end: number; isExpression: boolean }[] = [];
  for (const { node } of placesOf(file, text)) {
    const statements = childrenOf(node, BLOCKS[node.type] ?? '').filter(({ type }) => type !== 'ImportDeclaration');
    for (const { start, end } of statements) parts.push({ start, end, isExpression: false });
    const [body] =
      node.type === 'ArrowFunctionExpression' ? [node.body as { type: string; start: number; end: number }] : [];
    if (body && body.type !== 'BlockStatement') parts.push({ start: body.start, end: body.end, isExpression: true });
  }
  const insertions = parts.flatMap(({ start, end, isExpression }, part) =>
    isExpression
      ? [
          { at: start, order: part, text: `(visited$(${part}), ` },
          { at: end, order: -part, text: ')' },
        ]
      : [{ at: start, order: part, text: `visited$(${part});` }],
  );
  // Where several meet, what opens stands in the order of nesting and what closes in the opposite one.
  insertions.sort((one, other) => one.at - other.at || one.order - other.order);
  let counted = '';
  let from = 0;
  for (const { at, text: inserted } of insertions) {
    counted += text.slice(from, at) + inserted;
    from = at;
  }
  counted += text.slice(from);
  // Names that no file has.
  const note = `
import { appendFileSync as noteVisit$ } from 'node:fs';
var seen$: Set<number> | undefined;
function visited$(part: number) {
  // A "var" of the module: what runs before this line is run calls this, too.
  seen$ ??= new Set();
  if (seen$.has(part)) return;
  seen$.add(part);
  try { noteVisit$(${JSON.stringify(visits)}, part + '\\n'); } catch {}
}
`;
  return {
    text: `${counted}${note}`,
    partAt(position) {
      // Parents come first, so the last one that holds the position is the innermost.
      return parts.findLastIndex(({ start, end }) => start <= position && position < end);
    },
  };
};
