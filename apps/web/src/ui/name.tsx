import { createElement } from 'react';

/** Names have fewer pieces; what has more breaks wherever it has to. */
const MOST_PIECES = 64;
const PIECES = /(?<=[.@_:/])/;
const FOREIGN = { className: 'foreign' };
const BREAK = <wbr />;

/** A name of others, such as a domain, an address or a key: where there is little room it breaks after a dot rather than within a word. */
export const Name = ({ children }: { children: string }) => {
  const pieces = children.split(PIECES, MOST_PIECES + 1);
  if (pieces.length > MOST_PIECES) return <span className="foreign">{children}</span>;
  const broken = pieces.flatMap((piece, index) => (index === 0 ? [piece] : [BREAK, piece]));
  return createElement('span', FOREIGN, ...broken);
};
