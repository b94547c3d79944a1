import type { Pkcs12Contents } from './read.ts';

/** Files to read, each with the first of the passwords that opens it; an empty one stands for none. */
export interface Pkcs12Job {
  files: Uint8Array[];
  passwords: readonly string[];
}

/** What one of them holds, or why it can't be used: see `Pkcs12Problem`. */
export type Pkcs12Outcome = Pkcs12Contents | { problem: string; isLocked: boolean };
