import type { Entry } from '../../model/source.ts';

/** What has been scanned of one transaction. */
export type ScanState = {
  /** Bits of the groups that are scanned. */
  groups: number;
  /** Entries below this index are scanned. */
  scanned: number;
  /** Values that matched, by rule index, in the order of the entries. */
  readonly hits: Map<number, Entry[]>;
};
