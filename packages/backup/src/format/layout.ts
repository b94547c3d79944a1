// Where everything is in a backup file (docs/decisions/0014-backup-format.md): two lines of text, the manifest in a chunk of
// a fixed size, then the parts' compressed bytes, one after the other, cut into chunks. A tag follows every chunk.

/** The form this version writes and reads. 1 was the gzipped JSON of the first days, which nothing could restore. */
export const FORMAT = 2;

export const TAG_BYTES = 16;

/** The manifest is written last and stands first, so its room is set aside: some 400 parts fit. */
export const MANIFEST_BYTES = 64 * 1024;

/** Bytes of the parts that are sealed together. */
export const CHUNK_BYTES = 256 * 1024;

/** Of the two lines at the beginning. */
export const MOST_HEADER_BYTES = 4 * 1024;

/** One row as JSON; a rule set of 5 MiB, each character of it escaped, still fits. */
export const MOST_ROW_BYTES = 32 * 1024 * 1024;

/** What all parts together may expand to; what is larger is not written either. */
export const MOST_EXPANDED_BYTES = 8 * 1024 ** 3;

/** Where chunk `index` begins, in a file whose two lines have `headerBytes`. */
export const chunkStart = (headerBytes: number, index: number): number =>
  index === 0 ? headerBytes : headerBytes + MANIFEST_BYTES + TAG_BYTES + (index - 1) * (CHUNK_BYTES + TAG_BYTES);

/** The last chunk of a file whose parts have `payloadBytes` together; there is one even when they have none. */
export const lastChunk = (payloadBytes: number): number => Math.max(1, Math.ceil(payloadBytes / CHUNK_BYTES));

/** What the whole file has. */
export const fileBytes = (headerBytes: number, payloadBytes: number): number =>
  headerBytes + MANIFEST_BYTES + TAG_BYTES + payloadBytes + lastChunk(payloadBytes) * TAG_BYTES;
