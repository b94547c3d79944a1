import { createHash } from 'node:crypto';

/** What random input of tests is made from; `FUZZ_SEED=7` has them try others. */
export const fuzzSeed = Number(process.env.FUZZ_SEED ?? 1);
if (!Number.isSafeInteger(fuzzSeed)) throw new Error('FUZZ_SEED is no integer');

/** Bytes without any order, others for each seed: tell `fuzzSeed` in the name of the test. */
export const noise = (bytes: number): Buffer =>
  createHash('shake256', { outputLength: bytes }).update(`noise ${fuzzSeed}`).digest();
