import type { Reading, SourceFile } from '@sallyport/import';

/** Files to read: the first is the main one. */
export interface ReadJob {
  files: readonly SourceFile[];
}

/** What was read, as the JSON of a `Reading` it is stored as, with what has to be known of it without opening that. */
export interface ReadOutcome {
  text: string;
  source: Reading['source'] | null;
  hosts: number;
  errors: number;
  staticFiles: Reading['staticFiles'];
}
