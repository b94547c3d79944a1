import type { SourceFile } from '../reading.ts';

const MARK = /^# configuration file (.+):[\t ]*\r?$/gm;

/** What `nginx -T` prints is one text with many files; others are as they are. */
export const splitDump = (file: SourceFile): SourceFile[] => {
  const marks = [...file.content.matchAll(MARK)];
  if (marks.length === 0) return [file];
  return marks.map((mark, index) => ({
    name: mark[1]!,
    content: file.content.slice(mark.index + mark[0].length + 1, marks[index + 1]?.index),
  }));
};
