/** RFC 2046 allows boundaries of 70 characters; behind the two dashes that is this. */
const longestUsual = 72;

/**
 * A search for one needle in one text, called with growing positions. The runtime's own search is fast but quadratic at
 * worst, which short needles bound; a long one, chosen by the client, is searched by Knuth, Morris and Pratt's method.
 */
export const createDelimiterSearch = (text: Buffer, needle: Buffer): ((from: number) => number) => {
  if (needle.length <= longestUsual) return (from) => text.indexOf(needle, from);
  const borders = new Int32Array(needle.length);
  for (let i = 1, length = 0; i < needle.length; i++) {
    while (length > 0 && needle[i] !== needle[length]) length = borders[length - 1]!;
    if (needle[i] === needle[length]) length++;
    borders[i] = length;
  }
  return (from) => {
    let matched = 0;
    for (let at = from; at < text.length; at++) {
      while (matched > 0 && text[at] !== needle[matched]) matched = borders[matched - 1]!;
      if (text[at] === needle[matched]) matched++;
      if (matched === needle.length) return at + 1 - matched;
    }
    return -1;
  };
};
