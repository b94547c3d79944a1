import type { SourceFile } from './reading.ts';

/** What a file says, however its content is written. */
export const textOf = ({ content, encoding }: SourceFile): string =>
  encoding === 'base64' ? Buffer.from(content, 'base64').toString('utf8') : content;

/** A line of a text, 1-based, without the space around it. */
export const lineOf = (text: string, line: number): string => {
  let from = 0;
  for (let number = 1; number < line; number++) {
    const end = text.indexOf('\n', from);
    if (end === -1) break;
    from = end + 1;
  }
  const end = text.indexOf('\n', from);
  return text.slice(from, end === -1 ? undefined : end).trim();
};
