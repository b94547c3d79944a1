import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { CommandFailure } from '../failure.ts';

/** A file as the API takes it. */
export interface UploadFile {
  filename: string;
  content: string;
  encoding?: 'base64';
}

const SQLITE = 'SQLite format 3\0';
/** Where a directory of data has its database: Nginx Proxy Manager, Charon. */
const DATABASES = ['database.sqlite', 'charon.db', 'data/database.sqlite', 'data/charon.db'];

const reading = <Result>(read: () => Result): Result => {
  try {
    return read();
  } catch (error) {
    throw new CommandFailure((error as Error).message);
  }
};

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** A directory stands for the database in it. */
const fileAt = (path: string): string => {
  if (!reading(() => statSync(path)).isDirectory()) return path;
  const database = DATABASES.map((name) => join(path, name)).find(isFile);
  if (database === undefined)
    throw new CommandFailure(`${path} is a directory without a database: name the files in it`);
  return database;
};

/**
 * Reads files of another proxy, the main one first; named as seen from where that one is. A database comes with the log beside it, which
 * has its latest changes. Throws a `CommandFailure` for what can't be read.
 */
export const readUpload = (given: readonly string[]): UploadFile[] => {
  const paths = given.map(fileAt);
  const base = dirname(paths[0] ?? '');
  return paths.flatMap((path) => {
    const filename = relative(base, path).replaceAll('\\', '/');
    const bytes = reading(() => readFileSync(path));
    if (bytes.toString('latin1', 0, SQLITE.length) !== SQLITE) return [{ filename, content: bytes.toString('utf8') }];
    const database = { filename, content: bytes.toString('base64'), encoding: 'base64' as const };
    const log = `${path}-wal`;
    if (paths.includes(log) || !existsSync(log)) return [database];
    const latest = reading(() => readFileSync(log));
    // The API takes no empty file, and there is nothing in it.
    if (latest.length === 0) return [database];
    return [database, { ...database, filename: `${filename}-wal`, content: latest.toString('base64') }];
  });
};
