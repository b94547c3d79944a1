import type { Reverter } from '../reverter.ts';

/** A change with what takes it back. */
interface Takeable {
  key: string;
  reverter: Reverter;
}

/** Changes in their order, in runs of different objects of one kind that can be taken back together; others are alone. */
export const runsOf = <T extends Takeable>(changes: readonly T[]): T[][] => {
  const runs: T[][] = [];
  let keys = new Set<string>();
  for (const one of changes) {
    const run = runs.at(-1);
    const [first] = run ?? [];
    if (run && first?.reverter === one.reverter && one.reverter.many && !keys.has(one.key)) run.push(one);
    else {
      runs.push([one]);
      keys = new Set();
    }
    keys.add(one.key);
  }
  return runs;
};
