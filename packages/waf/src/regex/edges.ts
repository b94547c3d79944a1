import type { EdgePairs, EdgeSide, PcreNode } from './ast.ts';
import { anyByte, emptySet, invertSet, newline, wordBytes } from './byte-set.ts';

const anything: EdgeSide = { bytes: anyByte, boundary: true };
const nothing: EdgeSide = { bytes: emptySet(), boundary: true };
const byteOnly: EdgeSide = { bytes: anyByte, boundary: false };
const lineFeed: EdgeSide = { bytes: newline, boundary: false };
const lineFeedOrNothing: EdgeSide = { bytes: newline, boundary: true };
const wordSide: EdgeSide = { bytes: wordBytes, boundary: false };
const otherSide: EdgeSide = { bytes: invertSet(wordBytes), boundary: true };

const edge = (...pairs: EdgePairs): PcreNode => ({ type: 'edge', pairs });

/** `\A`, and `^` without multiline. */
export const textStart = edge({ before: nothing, after: anything });
/** `\z`. */
export const textEnd = edge({ before: anything, after: nothing });
/** `^` in multiline mode: after a newline, unless that newline ends the text. */
export const lineStart = edge({ before: nothing, after: anything }, { before: lineFeed, after: byteOnly });
/** `$` in multiline mode. */
export const lineEnd = edge({ before: anything, after: lineFeedOrNothing });
export const wordBoundary = edge({ before: wordSide, after: otherSide }, { before: otherSide, after: wordSide });
export const notWordBoundary = edge({ before: wordSide, after: wordSide }, { before: otherSide, after: otherSide });

/** `\Z`, and `$` without dollarEndonly: the end, or before a newline that ends the text. The edge narrows the automata. */
export const textEndOrFinalNewline: PcreNode = {
  type: 'concat',
  items: [
    lineEnd,
    {
      type: 'look',
      ahead: true,
      negative: false,
      body: {
        type: 'concat',
        items: [{ type: 'repeat', body: { type: 'set', set: newline }, min: 0, max: 1, mode: 'greedy' }, textEnd],
      },
    },
  ],
};

const isTextEnd = (node: PcreNode, ahead: boolean): boolean => node === (ahead ? textEnd : textStart);

const sideOf = (body: PcreNode, ahead: boolean): EdgeSide | null => {
  if (body.type === 'set') return { bytes: body.set, boundary: false };
  if (isTextEnd(body, ahead)) return nothing;
  if (body.type !== 'alternate') return null;
  let side: EdgeSide = { bytes: emptySet(), boundary: false };
  for (const item of body.items) {
    const one = sideOf(item, ahead);
    if (one === null) return null;
    side = {
      bytes: side.bytes.map((word, index) => word | one.bytes[index]!),
      boundary: side.boundary || one.boundary,
    };
  }
  return side;
};

/** A lookaround; one that only inspects the neighbouring byte becomes an edge, which automata decide exactly. */
export const lookaround = (ahead: boolean, negative: boolean, body: PcreNode): PcreNode => {
  const side = sideOf(body, ahead);
  if (side === null) return { type: 'look', ahead, negative, body };
  const wanted = negative ? { bytes: invertSet(side.bytes), boundary: !side.boundary } : side;
  return edge(ahead ? { before: anything, after: wanted } : { before: wanted, after: anything });
};
