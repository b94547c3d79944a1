/** What a line of a child's output means for the log. */
export interface ChildLine {
  level: 'debug' | 'info' | 'warn' | 'error';
  message: string;
  fields?: Readonly<Record<string, unknown>>;
}

/** Reads one line that a child wrote. Any child may write anything: it never throws. */
export type ReadLine = (line: string, from: 'stdout' | 'stderr') => ChildLine;
