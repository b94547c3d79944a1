import { ArchiveError } from './archive-error.ts';
import { MOST_ROW_BYTES } from './layout.ts';

export type Row = Readonly<Record<string, string | number | null>>;

/** Rows of one table, as many as are held in memory at a time. */
export interface TableBatch {
  table: string;
  rows: readonly Row[];
}

const PIECE_BYTES = 256 * 1024;

/** Rows as lines of JSON. Throws for one that a reader would refuse. */
export function* toLines(rows: readonly Row[], table: string): Generator<Buffer> {
  let text = '';
  for (const row of rows) {
    const line = `${JSON.stringify(row)}\n`;
    if (Buffer.byteLength(line) > MOST_ROW_BYTES) throw new Error(`a row of ${table} is too large for a backup`);
    text += line;
    if (text.length < PIECE_BYTES) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}

const LINE_FEED = 10;

/** Lines of a stream of bytes, without their line feeds. Throws an `ArchiveError` for one that never ends. */
async function* linesOf(source: AsyncIterable<Buffer>, table: string): AsyncGenerator<Buffer> {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  for await (const bytes of source) {
    let from = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, from)) {
      const line = bytes.subarray(from, end);
      yield kept.length === 0 ? line : Buffer.concat([...kept, line]);
      kept = [];
      keptBytes = 0;
      from = end + 1;
    }
    if (from === bytes.length) continue;
    kept.push(bytes.subarray(from));
    keptBytes += bytes.length - from;
    if (keptBytes > MOST_ROW_BYTES) throw new ArchiveError(`a row of ${table} is larger than any that is written`);
  }
  if (kept.length > 0) throw new ArchiveError(`the rows of ${table} are cut off`);
}

const isRow = (value: unknown): value is Row =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.entries(value).every(
    ([column, cell]) =>
      /^[a-z][a-z0-9_]{0,62}$/.test(column) &&
      (cell === null || typeof cell === 'string' || (typeof cell === 'number' && Number.isFinite(cell))),
  );

const parseRow = (line: Buffer, table: string): Row => {
  let row: unknown;
  try {
    row = JSON.parse(line.toString());
  } catch {
    // Told below, as any other line that is no row.
  }
  if (!isRow(row)) throw new ArchiveError(`${table} holds a line that is no row`);
  return row;
};

const BATCH_ROWS = 1_000;
const BATCH_BYTES = 4 * 1024 * 1024;

/** Rows of a table's bytes, a thousand at a time. Throws an `ArchiveError` unless there are exactly `count`. */
export async function* readRows(
  source: AsyncIterable<Buffer>,
  { table, count }: { table: string; count: number },
): AsyncGenerator<Row[]> {
  let batch: Row[] = [];
  let batchBytes = 0;
  let rows = 0;
  for await (const line of linesOf(source, table)) {
    batch.push(parseRow(line, table));
    batchBytes += line.length;
    rows += 1;
    if (batch.length < BATCH_ROWS && batchBytes < BATCH_BYTES) continue;
    yield batch;
    batch = [];
    batchBytes = 0;
  }
  if (rows !== count) throw new ArchiveError(`${table} has ${rows} rows where the manifest says ${count}`);
  if (batch.length > 0) yield batch;
}
