import type { SourceFile } from './reading.ts';

/** What a file says, however its content is written. */
export const textOf = ({ content, encoding }: SourceFile): string =>
  encoding === 'base64' ? Buffer.from(content, 'base64').toString('utf8') : content;
