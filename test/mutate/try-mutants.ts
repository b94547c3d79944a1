import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countVisits } from './count-visits.ts';
import { applyMutant, findMutants, type Mutant } from './find-mutants.ts';
import { distancesFrom } from './import-graph.ts';
import type { Sandbox } from './sandbox.ts';
import type { TestRunner } from './test-runner.ts';

/** What became of a mutant: a test failed, none did, it never ended, no test runs that code, or it was not tried. */
export type Fate = 'noticed' | 'survived' | 'too long' | 'not reached' | 'explained';

/** A mutant and its fate. */
export interface Tried {
  readonly mutant: Mutant;
  readonly fate: Fate;
  /** The test that noticed it. */
  readonly by?: string;
}

/** A run with a mutant may take so many times the processor time of one without, and `graceMs` more. */
const longerBy = 5;

const forEver = Number.MAX_SAFE_INTEGER;

interface Reach {
  readonly test: string;
  readonly parts: ReadonlySet<number>;
  readonly processorMs: number;
}

/** How mutants are tried. */
export interface Trial {
  readonly sandbox: Sandbox;
  readonly runner: TestRunner;
  /** Whether it is known why no test notices this one: then it is not tried. */
  readonly isExplained: (mutant: Mutant) => boolean;
  readonly onTried: (tried: Tried) => void;
  readonly graceMs?: number;
  /** Tries no more than so many of a file's mutants, spread evenly over it. */
  readonly most?: number;
}

/** No more than `most` of them, spread evenly, and always the same ones. */
export const spread = <Item>(all: readonly Item[], most: number): readonly Item[] =>
  all.filter((_, at) => Math.floor((at * most) / all.length) !== Math.floor(((at - 1) * most) / all.length));

/** Tries every mutant of a file with the tests that run the code it is in. Throws when a test fails without any mutant. */
export const tryMutants = async (
  file: string,
  tests: readonly string[],
  { sandbox, runner, isExplained, onTried, graceMs = 10_000, most = Number.MAX_SAFE_INTEGER }: Trial,
): Promise<readonly Tried[]> => {
  const text = readFileSync(join(sandbox.root, file), 'utf8');
  const found = findMutants(file, text);
  const mutants = found.length > most ? spread(found, most) : found;
  if (mutants.length === 0) return [];

  const visits = join(sandbox.temporary, 'visits');
  const counted = countVisits(file, text, visits);
  const reaches: Reach[] = [];
  sandbox.write(file, counted.text);
  const reaching = tests.filter((test) => distancesFrom(sandbox.root, test).has(file) || test.startsWith('test/'));
  for (const test of reaching) {
    // Written by processes of other accounts, too.
    writeFileSync(visits, '');
    chmodSync(visits, 0o666);
    const { outcome, failures, processorMs } = await runner.run({ tests: [test], limitMs: forEver });
    if (outcome !== 'passed') throw new Error(`${test} fails without any mutant: ${failures.join(', ')}`);
    const parts = new Set(
      readFileSync(visits, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map(Number),
    );
    if (parts.size > 0) reaches.push({ test, parts, processorMs });
  }
  reaches.sort((one, other) => one.processorMs - other.processorMs);

  const tried: Tried[] = [];
  for (const mutant of mutants) {
    const note = (result: Tried) => {
      tried.push(result);
      onTried(result);
    };
    if (isExplained(mutant)) {
      note({ mutant, fate: 'explained' });
      continue;
    }
    const part = counted.partAt(mutant.start);
    const reached = reaches.filter(({ parts }) => part === -1 || parts.has(part));
    if (reached.length === 0) {
      note({ mutant, fate: 'not reached' });
      continue;
    }
    sandbox.write(file, applyMutant(text, mutant));
    const undisturbedMs = reached.reduce((sum, { processorMs }) => sum + processorMs, 0);
    const { outcome, failures } = await runner.run({
      tests: reached.map(({ test }) => test),
      limitMs: graceMs + longerBy * undisturbedMs,
    });
    const fate = outcome === 'passed' ? 'survived' : outcome;
    note({ mutant, fate, ...(failures[0] === undefined ? {} : { by: failures[0] }) });
  }
  sandbox.write(file, text);
  if (existsSync(visits)) rmSync(visits);
  return tried;
};
