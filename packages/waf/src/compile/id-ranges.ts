/** Parses `123`, `100-200` and lists of them separated by blanks or commas; null when any part is not one. */
export const parseIdRanges = (text: string): { from: number; to: number }[] | null => {
  const ranges: { from: number; to: number }[] = [];
  for (const part of text.split(/[\s,]+/).filter(Boolean)) {
    const found = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(part);
    if (found === null) return null;
    const from = Number(found[1]);
    const to = found[2] === undefined ? from : Number(found[2]);
    if (to < from) return null;
    ranges.push({ from, to });
  }
  return ranges.length === 0 ? null : ranges;
};
