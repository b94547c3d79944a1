import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '@sallyport/deployment/config';
import { handOver } from '@sallyport/deployment/data-dir';

const KEY_FILE = 'encryption.key';
const KEY_BYTES = 32;
const RETIRED = /^encryption\.key\.([0-9a-f]{8})$/;

const pathOf = (dataDir: string, keyId?: string): string =>
  join(dataDir, keyId === undefined ? KEY_FILE : `${KEY_FILE}.${keyId}`);

/** Where the generated key of the data directory is, or would be. */
export const keyFile = (dataDir: string): { path: string; exists: boolean } => {
  const path = pathOf(dataDir);
  return { path, exists: existsSync(path) };
};

/** Of a disk that fails the system does not say which file it could not read. */
const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error;
    throw new ConfigError([`${path} can not be read, and without it no secret: ${(error as Error).message}`]);
  }
};

const readKey = (path: string): Buffer => {
  const key = Buffer.from(readText(path).trim(), 'base64');
  if (key.length < KEY_BYTES) throw new ConfigError([`${path} does not hold a key of ${KEY_BYTES} bytes in base64`]);
  return key;
};

/** Writes a key to a file of its own (0600), synced to disk; returns the path. */
const writeDraft = (dataDir: string, key: Buffer): string => {
  // Not the process id: in a container the next process has the same one, and what a crash left would be in its way.
  const draft = `${pathOf(dataDir)}.draft-${randomBytes(6).toString('hex')}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeSync(file, `${key.toString('base64')}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  handOver(draft, dataDir);
  return draft;
};

/** Like a hard link of `from`, unless `to` is there already. */
const linkUnlessThere = (from: string, to: string): void => {
  try {
    linkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
};

export const newKey = (): Buffer => randomBytes(KEY_BYTES);

/**
 * Reads the generated key of the data directory, making it (0600, synced to disk) when there is none yet.
 * Safe when several processes start at once: the first one's key wins. Throws a `ConfigError` when the file is too short.
 */
export const loadOrCreateKey = (dataDir: string): Buffer => {
  const path = pathOf(dataDir);
  if (!existsSync(path)) {
    const draft = writeDraft(dataDir, newKey());
    // A hard link fails when the target exists, where a rename would replace another process's key.
    try {
      linkUnlessThere(draft, path);
    } finally {
      unlinkSync(draft);
    }
  }
  const key = readKey(path);
  chmodSync(path, 0o600);
  return key;
};

/** Changes whenever the key file is replaced. */
export const keyFileStamp = (dataDir: string): string => {
  const { ino, mtimeNs } = statSync(pathOf(dataDir), { bigint: true });
  return `${ino} ${mtimeNs}`;
};

/** A key that was in use before; undefined when it was never kept or has been forgotten. */
export const loadRetiredKey = (dataDir: string, keyId: string): Buffer | undefined => {
  const path = pathOf(dataDir, keyId);
  return existsSync(path) ? readKey(path) : undefined;
};

/** Puts a new key in place of the one in use, which is kept under its id: backups were sealed with it. */
export const replaceKey = (dataDir: string, key: Buffer, oldKeyId: string): void => {
  const draft = writeDraft(dataDir, key);
  try {
    linkUnlessThere(pathOf(dataDir), pathOf(dataDir, oldKeyId));
    renameSync(draft, pathOf(dataDir));
  } catch (error) {
    unlinkSync(draft);
    throw error;
  }
  const directory = openSync(dataDir, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
};

/** Ids of the keys that are kept from before. */
export const retiredKeys = (dataDir: string): string[] =>
  readdirSync(dataDir).flatMap((name) => RETIRED.exec(name)?.[1] ?? []);

export const forgetKey = (dataDir: string, keyId: string): void => unlinkSync(pathOf(dataDir, keyId));
