import { ArchiveError } from './archive-error.ts';
import type { Header } from './header.ts';
import { FORMAT, MANIFEST_BYTES, MOST_EXPANDED_BYTES } from './layout.ts';

/** One table, one file or the key, as the manifest lists it. */
export interface Part {
  /** `key`, `files/<name>` or `tables/<name>`. */
  name: string;
  /** Of a table; 0 otherwise. */
  rows: number;
  /** Expanded. */
  bytes: number;
  /** As it lies in the file, compressed. */
  stored: number;
  /** Of the expanded bytes, hex. */
  sha256: string;
}

/** What a backup holds; the parts stand in the file in this order. */
export interface Manifest extends Header {
  format: number;
  /** Every migration of the store that the rows were read from. */
  migrations: readonly string[];
  /** Id of the key that secrets in the rows are sealed with. */
  key_fingerprint: string;
  parts: readonly Part[];
}

export type Contents = Pick<Manifest, 'migrations' | 'key_fingerprint' | 'parts'>;

const FIELDS = 'key_fingerprint migrations parts';
const PART_FIELDS = 'bytes name rows sha256 stored';
const PART_NAME = /^(?:key|(?:files|tables)\/[\w./-]{1,128})$/;

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

const isPart = (value: unknown): value is Part => {
  if (typeof value !== 'object' || value === null) return false;
  const { name, rows, bytes, stored, sha256 } = value as Record<string, unknown>;
  return (
    Object.keys(value).sort().join(' ') === PART_FIELDS &&
    typeof name === 'string' &&
    PART_NAME.test(name) &&
    [rows, bytes, stored].every(isCount) &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256)
  );
};

const isContents = (value: unknown): value is Contents => {
  if (typeof value !== 'object' || value === null) return false;
  const { migrations, key_fingerprint, parts } = value as Record<string, unknown>;
  return (
    Object.keys(value).sort().join(' ') === FIELDS &&
    Array.isArray(migrations) &&
    migrations.every((name) => typeof name === 'string' && /^[\w-]{1,64}$/.test(name)) &&
    typeof key_fingerprint === 'string' &&
    /^[0-9a-f]{0,64}$/.test(key_fingerprint) &&
    Array.isArray(parts) &&
    parts.every(isPart)
  );
};

/** The manifest as its chunk holds it: JSON, filled up with blanks. */
export const manifestBytes = (contents: Contents): Buffer => {
  const text = Buffer.from(JSON.stringify(contents));
  if (text.length > MANIFEST_BYTES) throw new Error(`a manifest of ${text.length} bytes does not fit`);
  return Buffer.concat([text, Buffer.alloc(MANIFEST_BYTES - text.length, ' ')]);
};

/** Which parts a reader knows. */
export interface KnownParts {
  tables: ReadonlySet<string>;
  files: ReadonlySet<string>;
}

const checkParts = (parts: readonly Part[], { tables, files }: KnownParts): void => {
  const names = new Set<string>();
  for (const { name } of parts) {
    if (names.has(name)) throw new ArchiveError(`the backup holds ${name} twice`);
    names.add(name);
    const [kind, inner] = [name.split('/', 1)[0] ?? '', name.slice(name.indexOf('/') + 1)];
    const isKnown = kind === 'key' || (kind === 'tables' ? tables : files).has(inner);
    if (!isKnown) throw new ArchiveError(`the backup holds ${name}, which this version does not know`);
  }
};

/** Reads the manifest's chunk. Throws an `ArchiveError` for one that is none, that names a part twice, one nobody knows, or too much. */
export const parseManifest = (chunk: Buffer, header: Header, known: KnownParts): Manifest => {
  let contents: unknown;
  try {
    contents = JSON.parse(chunk.toString());
  } catch {
    throw new ArchiveError('the manifest of the backup can not be read');
  }
  if (!isContents(contents)) throw new ArchiveError('the manifest of the backup is not one of this format');
  checkParts(contents.parts, known);
  const expanded = contents.parts.reduce((sum, { bytes }) => sum + bytes, 0);
  if (expanded > MOST_EXPANDED_BYTES) {
    throw new ArchiveError(`the backup would expand to ${expanded} bytes; ${MOST_EXPANDED_BYTES} are allowed`);
  }
  return { ...header, format: FORMAT, ...contents };
};
