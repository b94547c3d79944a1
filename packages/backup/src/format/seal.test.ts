import { expect, test } from 'vitest';
import { decrypting } from './seal.ts';

// Made apart from this code, by what docs/decisions/0014-backup-format.md says: scrypt of N=2^17, r=8, p=1; 32 bytes of key, 16
// of check; AES-256-GCM with the place as the nonce.
const SALT = '000102030405060708090a0b0c0d0e0f';
const CHECK = 'a813797d099fbb9f7b809ed22198e6c9';
const CHUNK_2_THE_LAST = Buffer.from('2e1aca2946cdd71be4eb4889a5ed0370131ad48f', 'hex');
const HEADER = Buffer.from('head\n');

test('a file that was encrypted years ago opens: what a passphrase costs, and where a chunk says it is, never change', async () => {
  const seal = await decrypting('five rusty anchors', { salt: SALT, check: CHECK }, HEADER);
  expect(seal.open(CHUNK_2_THE_LAST, { index: 2, isLast: true }).toString()).toBe('rows');
  expect(() => seal.open(CHUNK_2_THE_LAST, { index: 2, isLast: false })).toThrow('damaged in chunk 2');
});
