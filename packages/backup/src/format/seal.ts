import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { ArchiveError, WrongPassphrase } from './archive-error.ts';
import type { Encryption } from './header.ts';
import { TAG_BYTES } from './layout.ts';

/** Which chunk of a file, and whether nothing comes after it. */
export interface Place {
  index: number;
  isLast: boolean;
}

/** Makes chunks that can't be changed, moved, left out or taken from another file without being noticed. */
export interface Seal {
  /** Returns what is stored: the bytes, encrypted or not, and their tag. */
  close(bytes: Buffer, place: Place): Buffer;
  /** Throws an `ArchiveError` for a chunk that is not the one of this place. */
  open(stored: Buffer, place: Place): Buffer;
}

const damaged = ({ index }: Place): ArchiveError =>
  new ArchiveError(index === 0 ? 'the manifest of the backup is damaged' : `the backup is damaged in chunk ${index}`);

const placeBytes = ({ index, isLast }: Place): Buffer => {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt8(isLast ? 1 : 0, 0);
  bytes.writeUInt32BE(index, 8);
  return bytes;
};

/** For a backup without a passphrase: tags are checksums, which anybody can make; they find damage, not forgery. */
export const plainSeal = (header: Buffer): Seal => {
  const tagOf = (bytes: Buffer, place: Place) =>
    createHash('sha256').update(header).update(placeBytes(place)).update(bytes).digest().subarray(0, TAG_BYTES);
  return {
    close: (bytes, place) => Buffer.concat([bytes, tagOf(bytes, place)]),
    open(stored, place) {
      const bytes = stored.subarray(0, -TAG_BYTES);
      if (!tagOf(bytes, place).equals(stored.subarray(-TAG_BYTES))) throw damaged(place);
      return bytes;
    },
  };
};

/**
 * AES-256-GCM, each chunk with its place as the nonce: the key serves one file only, because its salt does. The header is
 * authenticated with every chunk.
 */
const keyedSeal = (key: Buffer, header: Buffer): Seal => ({
  close(bytes, place) {
    const cipher = createCipheriv('aes-256-gcm', key, placeBytes(place)).setAAD(header);
    return Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  },
  open(stored, place) {
    const options = { authTagLength: TAG_BYTES };
    const decipher = createDecipheriv('aes-256-gcm', key, placeBytes(place), options).setAAD(header);
    decipher.setAuthTag(stored.subarray(-TAG_BYTES));
    const bytes = decipher.update(stored.subarray(0, -TAG_BYTES));
    try {
      decipher.final();
    } catch {
      throw damaged(place);
    }
    return bytes;
  },
});

const KEY_BYTES = 32;
const SALT_BYTES = 16;
const CHECK_BYTES = 16;
/** 128 MiB and some 0.4 s for each guess. */
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };

/** The same characters, whatever keyboard they were typed on. */
const stretch = (passphrase: string, salt: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFKC'), salt, KEY_BYTES + CHECK_BYTES, COST, (error, bytes) => {
      if (error) reject(error);
      else resolve(bytes);
    });
  });

/** Makes what a new file is encrypted with; the header that holds `encryption` is given to `seal`. */
export const encrypting = async (
  passphrase: string,
): Promise<{ encryption: Encryption; seal: (header: Buffer) => Seal }> => {
  const salt = randomBytes(SALT_BYTES);
  const stretched = await stretch(passphrase, salt);
  const check = stretched.subarray(KEY_BYTES).toString('hex');
  return {
    encryption: { salt: salt.toString('hex'), check },
    seal: (header) => keyedSeal(stretched.subarray(0, KEY_BYTES), header),
  };
};

/** Makes what a file is decrypted with. Throws an `ArchiveError` when the passphrase is not the one of the file. */
export const decrypting = async (passphrase: string, { salt, check }: Encryption, header: Buffer): Promise<Seal> => {
  const stretched = await stretch(passphrase, Buffer.from(salt, 'hex'));
  if (!timingSafeEqual(stretched.subarray(KEY_BYTES), Buffer.from(check, 'hex'))) {
    throw new WrongPassphrase('the passphrase is not the one of this backup, or its first lines are damaged');
  }
  return keyedSeal(stretched.subarray(0, KEY_BYTES), header);
};
