const MARKER = /^[A-Za-z0-9_-]+$/;

/** What is wrong with a heredoc's marker, or undefined. */
export const wrongMarker = (marker: string): string | undefined => {
  if (marker === '') return 'a heredoc needs a marker after <<, such as <<END';
  if (marker.startsWith('<')) return 'too many < for a heredoc: use two, such as <<END';
  return MARKER.test(marker) ? undefined : 'a heredoc marker may only have letters, digits, dashes and underscores';
};

/**
 * The text of a heredoc, without the white space that stands before its closing marker; `body` ends where the marker begins.
 * Returns the number of the line (0-based) that lacks that white space instead, when one does.
 */
export const stripPadding = (body: string): string | number => {
  const lastBreak = body.lastIndexOf('\n');
  if (lastBreak === -1) return '';
  const padding = body.slice(lastBreak + 1);
  const lines = body.slice(0, lastBreak).split('\n');
  for (const [index, line] of lines.entries()) {
    if (line === '' || line === '\r') lines[index] = '';
    else if (line.startsWith(padding)) lines[index] = line.slice(padding.length).replaceAll('\r', '');
    else return index;
  }
  return lines.join('\n');
};
