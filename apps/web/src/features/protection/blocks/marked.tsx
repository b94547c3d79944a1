import { Mark } from '@mantine/core';

/** A piece of a percent-encoded text as it reads; what is no UTF-8 stays as it is. */
const decoded = (text: string): string =>
  text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (piece) => {
    try {
      return decodeURIComponent(piece);
    } catch {
      return piece;
    }
  });

/** A request target as its application reads it. */
export const readable = (uri: string): string => {
  const [path = '', ...query] = uri.split('?');
  return [decoded(path), ...query.map((part) => decoded(part.replaceAll('+', ' ')))].join('?');
};

interface MarkedProps {
  text: string;
  /** What is marked in it, wherever it stands. */
  pieces: readonly string[];
}

/** A text with the pieces in it marked, the longest first. */
export const Marked = ({ text, pieces }: MarkedProps) => {
  const wanted = pieces.filter((piece) => piece !== '').toSorted((one, other) => other.length - one.length);
  const parts: { text: string; isMarked: boolean; at: number }[] = [];
  let plain = 0;
  for (let at = 0; at < text.length; ) {
    const piece = wanted.find((one) => text.startsWith(one, at));
    if (piece === undefined) {
      at += 1;
      continue;
    }
    if (at > plain) parts.push({ text: text.slice(plain, at), isMarked: false, at: plain });
    parts.push({ text: piece, isMarked: true, at });
    at += piece.length;
    plain = at;
  }
  if (plain < text.length) parts.push({ text: text.slice(plain), isMarked: false, at: plain });
  return (
    <span className="foreign">
      {parts.map((part) =>
        part.isMarked ? <Mark key={part.at}>{part.text}</Mark> : <span key={part.at}>{part.text}</span>,
      )}
    </span>
  );
};
