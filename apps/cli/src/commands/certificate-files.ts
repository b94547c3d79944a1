import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailure } from '../failure.ts';

/** What the API takes of one file, and of all together. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_FILES = 1_000;

export interface ReadFile {
  path: string;
  bytes: Buffer<ArrayBuffer>;
}

const reading = <Result>(read: () => Result): Result => {
  try {
    return read();
  } catch (error) {
    throw new CommandFailure((error as Error).message);
  }
};

/** Whether there is something behind a name; a link to nothing, or to itself, is none. */
const isThere = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') return false;
    throw error;
  }
};

/**
 * Files at or below a path. Links are followed, as certbot's `live` is made of them; but each directory is looked at once, by whatever
 * name: links to directories above would lead to more and more of them.
 */
const filesBelow = (path: string, seen: Set<string>): string[] => {
  if (!reading(() => statSync(path)).isDirectory()) return [path];
  const directory = reading(() => realpathSync(path));
  if (seen.has(directory)) return [];
  seen.add(directory);
  return reading(() => readdirSync(path))
    .sort()
    .map((name) => join(path, name))
    .filter((below) => reading(() => isThere(below)))
    .flatMap((below) => filesBelow(below, seen));
};

const holdsPem = (bytes: Buffer): boolean =>
  bytes.includes('-----BEGIN') ||
  (bytes.toString('latin1', 0, 64).trimStart().startsWith('{') && /certificate/i.test(bytes.toString('latin1')));

/** A SEQUENCE that begins with the version of all PKCS #12 files, 3, and another SEQUENCE; or one by its name, which may be damaged. */
const isPkcs12 = (path: string, bytes: Buffer): boolean =>
  (bytes[0] === 0x30 && bytes.subarray(2, 12).includes(Buffer.from([2, 1, 3, 0x30]))) || /\.(?:pfx|p12)$/i.test(path);

/**
 * Reads the files at and below some paths that may hold certificates or keys; others are left here, and so is what is too large for
 * either. Throws a `CommandFailure` for what can't be read, or is too much at once.
 */
export const readCertificateFiles = (paths: readonly string[]): ReadFile[] => {
  const files: ReadFile[] = [];
  const seen = new Set<string>();
  for (const path of new Set(paths.flatMap((one) => filesBelow(one, seen)))) {
    const { size } = reading(() => statSync(path));
    if (size === 0 || size > MAX_FILE_BYTES) continue;
    const bytes = reading(() => readFileSync(path)) as Buffer<ArrayBuffer>;
    if (holdsPem(bytes) || isPkcs12(path, bytes)) files.push({ path, bytes });
    if (files.length > MAX_FILES)
      throw new CommandFailure(`more than ${MAX_FILES} files: import one folder after the other`);
  }
  if (files.length === 0) throw new CommandFailure(`no certificate and no key in ${paths.join(', ')}`);
  return files;
};
