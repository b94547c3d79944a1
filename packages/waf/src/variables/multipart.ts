import { hasMixedLineEnds, isStrictError, type MultipartFlags } from '../body/multipart.ts';
import type { Transaction } from '../model/transaction.ts';

const flag =
  (isSet: (flags: MultipartFlags) => boolean) =>
  (tx: Transaction): number =>
    tx.body.multipart !== null && isSet(tx.body.multipart) ? 1 : 0;

/** What was odd about a multipart body; 0 for other bodies. */
export const multipartVariables = {
  MULTIPART_STRICT_ERROR: flag(isStrictError),
  MULTIPART_BOUNDARY_QUOTED: flag((flags) => flags.isBoundaryQuoted),
  MULTIPART_BOUNDARY_WHITESPACE: flag((flags) => flags.hasBoundaryWhitespace),
  MULTIPART_DATA_BEFORE: flag((flags) => flags.hasDataBefore),
  MULTIPART_DATA_AFTER: flag((flags) => flags.hasDataAfter),
  MULTIPART_HEADER_FOLDING: flag((flags) => flags.hasHeaderFolding),
  MULTIPART_INVALID_HEADER_FOLDING: flag((flags) => flags.hasInvalidHeaderFolding),
  MULTIPART_INVALID_QUOTING: flag((flags) => flags.hasInvalidQuoting),
  MULTIPART_INVALID_PART: flag((flags) => flags.hasInvalidPart),
  MULTIPART_LF_LINE: flag((flags) => flags.hasLfLine),
  MULTIPART_CRLF_LF_LINES: flag(hasMixedLineEnds),
  MULTIPART_MISSING_SEMICOLON: flag((flags) => flags.isSemicolonMissing),
  MULTIPART_SEMICOLON_MISSING: flag((flags) => flags.isSemicolonMissing),
  MULTIPART_FILE_LIMIT_EXCEEDED: flag((flags) => flags.isTruncated),
  MULTIPART_UNMATCHED_BOUNDARY: (tx: Transaction): number => tx.body.multipart?.unmatchedBoundary ?? 0,
} as const;
