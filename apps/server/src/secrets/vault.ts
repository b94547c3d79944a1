import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

const VERSION = 'v1';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_FILE = 'encryption.key';

/** Seals secrets for storage: AES-256-GCM, bound to what the secret belongs to. */
export interface Vault {
  /** Encrypts UTF-8 text; `context` (e.g. `certificate:<uuid>`) must be the same when it is opened. */
  seal(plaintext: string, context: string): string;
  /** Decrypts what `seal` made. Throws when the key, the context or a single bit differs. */
  open(sealed: string, context: string): string;
  /** Names the key without revealing it; part of every sealed text. */
  readonly keyId: string;
}

/** Makes a vault from key material of at least 32 characters or bytes. */
export const createVault = (material: string | Buffer): Vault => {
  const key = Buffer.from(hkdfSync('sha256', material, '', 'sallyport stored credentials', 32));
  const keyId = createHash('sha256').update(key).digest('hex').slice(0, 8);
  return {
    keyId,
    seal(plaintext, context) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
      const body = Buffer.concat([iv, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${VERSION}.${keyId}.${body.toString('base64url')}`;
    },
    open(sealed, context) {
      const [version, sealedWith, body, ...rest] = sealed.split('.');
      if (version !== VERSION || !body || rest.length > 0) throw new Error('sealed text has an unknown format');
      if (sealedWith !== keyId) throw new Error(`sealed with key ${sealedWith}, but the key in use is ${keyId}`);
      const bytes = Buffer.from(body, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-TAG_BYTES));
      return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    },
  };
};

/**
 * Reads the generated key of the data directory, making it (0600, synced to disk) when there is none yet.
 * Safe when several processes start at once: the first one's key wins. Throws when the file is unreadable or too short.
 */
export const loadOrCreateKey = (dataDir: string): Buffer => {
  const path = join(dataDir, KEY_FILE);
  if (!existsSync(path)) createKeyFile(path);
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64');
  if (key.length < 32) throw new Error(`${path} does not hold a key of 32 bytes`);
  chmodSync(path, 0o600);
  return key;
};

const createKeyFile = (path: string) => {
  const draft = `${path}.${process.pid}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeSync(file, `${randomBytes(32).toString('base64')}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    // A hard link fails when the target exists, where a rename would replace another process's key.
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
};
