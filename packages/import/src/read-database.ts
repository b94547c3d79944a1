import { atMost } from './at-most.ts';
import { isCharon, readCharon } from './charon/read.ts';
import { DatabaseError } from './database/error.ts';
import { isDatabase, keepsLog, openUploaded } from './database/open.ts';
import { withLog } from './database/wal.ts';
import { warn } from './loss.ts';
import { isNginxProxyManager, readNginxProxyManager } from './nginx-proxy-manager/read.ts';
import type { Reading, SourceFile } from './reading.ts';
import { shorten } from './shorten.ts';

/** A file that may be one of bytes. */
export interface BinaryFile {
  name: string;
  bytes: Buffer;
}

const MAX_WARNINGS = 1000;
const MOST_BYTES = 64 * 1024 * 1024;

const bytesOf = ({ content, encoding }: SourceFile): Buffer | undefined =>
  encoding === 'base64' ? Buffer.from(content, 'base64') : undefined;

/** The SQLite database among the files; undefined when there is none. */
export const databaseAmong = (files: readonly SourceFile[]): BinaryFile | undefined => {
  for (const file of files) {
    const bytes = bytesOf(file);
    if (bytes && isDatabase(bytes)) return { name: file.name, bytes };
  }
  return undefined;
};

const readOpened = (
  bytes: Buffer,
  name: string,
  files: readonly SourceFile[],
): Omit<Reading, 'errors' | 'staticFiles'> => {
  const database = openUploaded(bytes);
  try {
    if (isNginxProxyManager(database)) return readNginxProxyManager(database, name, files);
    if (isCharon(database)) return readCharon(database, name);
    throw new DatabaseError('it is neither of Nginx Proxy Manager nor of Charon');
  } finally {
    database.close();
  }
};

/**
 * Reads a SQLite database, of whatever it is, with the log that was uploaded beside it. Never throws because of what it holds: that
 * is in the reading's `errors`.
 */
export const readDatabase = ({ name, bytes }: BinaryFile, files: readonly SourceFile[]): Reading => {
  const log = files.find((file) => file.name === `${name}-wal`);
  try {
    const whole = log ? withLog(bytes, bytesOf(log) ?? Buffer.alloc(0), MOST_BYTES) : bytes;
    const reading = readOpened(whole, name, files);
    const message = `changes that were not yet in the database are missing: upload ${name}-wal with it, or stop the service before`;
    const missing = keepsLog(bytes) && !log ? [warn({ file: name, line: 1 }, message)] : [];
    return {
      ...reading,
      warnings: atMost(MAX_WARNINGS, [...missing, ...reading.warnings]),
      errors: [],
      staticFiles: [],
    };
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const { table, row = 1, text = table ?? name } = error.place;
    const message = shorten(`the database is not imported: ${error.message}`, 400);
    const file = table === undefined ? name : `${name}: ${table}`;
    const errors = [{ file, line: Math.max(1, row), column: 1, message, text: shorten(text, 200) }];
    return { source: null, hosts: [], warnings: [], errors, staticFiles: [] };
  }
};
