import { hash, pbkdf2Sync } from 'node:crypto';
import { Pkcs12Problem } from './problem.ts';

/** Node's names of the hash functions that keys are derived with. */
export type Digest = 'sha1' | 'sha224' | 'sha256' | 'sha384' | 'sha512';

export const OUTPUT_BYTES: Readonly<Record<Digest, number>> = {
  sha1: 20,
  sha224: 28,
  sha256: 32,
  sha384: 48,
  sha512: 64,
};
const blockBytes = (digest: Digest): number => (OUTPUT_BYTES[digest] > 32 ? 128 : 64);

/** OpenSSL and Windows hash 2,000 times for each key, Java 10,000; a million is what the most careful ask for. */
export const MOST_ROUNDS = 5_000_000;
const MAX_SALT_BYTES = 1_024;

/** Takes rounds of hashing from what may be done. */
export interface Rounds {
  /** Throws a `Pkcs12Problem` when that is more than are left. */
  take(iterations: number, blocks: number): void;
}

/**
 * Counts the rounds of hashing that files ask for, before they are done: who wrote a file chose them. `inAll`: for all files together, each of
 * which has `MOST_ROUNDS`.
 */
export const createRounds = (inAll = MOST_ROUNDS) => {
  let left = inAll;
  return {
    forFile(): Rounds {
      let own = MOST_ROUNDS;
      return {
        take(iterations, blocks) {
          if (iterations < 1) throw new Pkcs12Problem('is damaged: it says that its password is hashed 0 times');
          own -= iterations * blocks;
          if (own < 0) {
            const times = MOST_ROUNDS.toLocaleString('en');
            throw new Pkcs12Problem(`wants its password hashed more than ${times} times, which takes too long here`);
          }
          left -= iterations * blocks;
          if (left < 0) throw new Pkcs12Problem('is left: all files together take too long to decrypt');
        },
      };
    },
  };
};

export interface Derivation {
  digest: Digest;
  salt: Buffer;
  iterations: number;
}

const checkSalt = (salt: Buffer): void => {
  if (salt.length > MAX_SALT_BYTES) throw new Pkcs12Problem('is damaged: its salt is longer than any');
};

/** PBKDF2 (RFC 8018) of a password in UTF-8. */
export const derivePbkdf2 = (
  password: Buffer,
  { digest, salt, iterations }: Derivation,
  length: number,
  rounds: Rounds,
): Buffer => {
  checkSalt(salt);
  rounds.take(iterations, Math.ceil(length / OUTPUT_BYTES[digest]));
  return pbkdf2Sync(password, salt, iterations, length, digest);
};

/** What a derivation of RFC 7292 is for. */
export const PURPOSE = { key: 1, iv: 2, mac: 3 } as const;

/** Repeats bytes until they fill whole blocks. */
const filled = (bytes: Buffer, block: number): Buffer =>
  bytes.length === 0 ? bytes : Buffer.alloc(block * Math.ceil(bytes.length / block), bytes);

/** Adds `addend` + 1 to each block, as one large number each. */
const addToBlocks = (blocks: Buffer, addend: Buffer): void => {
  for (let start = 0; start < blocks.length; start += addend.length) {
    let carry = 1;
    for (let at = addend.length - 1; at >= 0; at -= 1) {
      const sum = (blocks[start + at] ?? 0) + (addend[at] ?? 0) + carry;
      blocks[start + at] = sum & 0xff;
      carry = sum >> 8;
    }
  }
};

/** The derivation of RFC 7292, appendix B.2, of a password in UTF-16 with a NUL at its end, which no library of Node's has. */
export const derivePkcs12 = (
  password: Buffer,
  { digest, salt, iterations }: Derivation,
  purpose: number,
  length: number,
  rounds: Rounds,
): Buffer => {
  checkSalt(salt);
  const count = Math.ceil(length / OUTPUT_BYTES[digest]);
  rounds.take(iterations, count);
  const block = blockBytes(digest);
  const diversifier = Buffer.alloc(block, purpose);
  const input = Buffer.concat([filled(salt, block), filled(password, block)]);
  const output: Buffer[] = [];
  for (let piece = 0; piece < count; piece += 1) {
    let hashed = Buffer.concat([diversifier, input]);
    for (let round = 0; round < iterations; round += 1) hashed = hash(digest, hashed, 'buffer');
    output.push(hashed);
    addToBlocks(input, Buffer.alloc(block, hashed));
  }
  return Buffer.concat(output).subarray(0, length);
};
