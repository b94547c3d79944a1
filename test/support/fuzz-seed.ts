import fc from 'fast-check';
import { fuzzSeed } from './noise.ts';

/** Random input is the same in every run, so that what one finds the next one finds, too. A test that fails prints its seed. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: fuzzSeed });
