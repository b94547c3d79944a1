import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { keyFileStamp, loadOrCreateKey, loadRetiredKey } from './key-file.ts';

const VERSION = 'v1';
const IV_BYTES = 12;
const TAG_BYTES = 16;

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

/** The id of the key that sealed a text; undefined when it is no sealed text. */
export const keyIdOf = (sealed: string): string | undefined => /^v1\.([0-9a-f]{8})\./.exec(sealed)?.[1];

/**
 * Opens the vault of a deployment. With `encryptionKey` that one key is used. Without it the generated key file is, and
 * followed: a rotation by another process is noticed before the next use, and what a retired key sealed still opens.
 * Seal inside the transaction that stores the result, so that a rotation is either over or waits.
 */
export const openVault = ({
  dataDir,
  encryptionKey,
}: {
  dataDir: string;
  encryptionKey: string | undefined;
}): Vault => {
  if (encryptionKey !== undefined) return createVault(encryptionKey);
  loadOrCreateKey(dataDir);
  let inForce: { stamp: string; vault: Vault } | undefined;
  const retired = new Map<string, Vault>();
  const current = (): Vault => {
    // Before the key: one that is replaced between the two is read again, and never kept under the next one's stamp.
    const stamp = keyFileStamp(dataDir);
    if (inForce?.stamp !== stamp) inForce = { stamp, vault: createVault(loadOrCreateKey(dataDir)) };
    return inForce.vault;
  };
  const vaultOf = (sealed: string): Vault => {
    const inUse = current();
    const keyId = keyIdOf(sealed);
    if (keyId === undefined || keyId === inUse.keyId) return inUse;
    const known = retired.get(keyId);
    if (known) return known;
    const key = loadRetiredKey(dataDir, keyId);
    if (!key) return inUse;
    const opened = createVault(key);
    retired.set(keyId, opened);
    return opened;
  };
  return {
    get keyId() {
      return current().keyId;
    },
    seal: (plaintext, context) => current().seal(plaintext, context),
    open: (sealed, context) => vaultOf(sealed).open(sealed, context),
  };
};
