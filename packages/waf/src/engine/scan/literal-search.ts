import { buildAhoCorasick } from '../../regex/index.ts';
import type { ScanTest } from './scan-tests.ts';

/** One pass over a value for the literals of every test at once; `testCount` is above every index of `tests`. */
export const createLiteralSearch = (tests: readonly ScanTest[], testCount: number) => {
  const numbers = new Map<string, number>();
  const literals: Uint8Array[] = [];
  const testsOf: number[][] = [];
  for (const { index, gate } of tests) {
    for (const literal of gate.literals ?? []) {
      const key = Buffer.from(literal)
        .toString('latin1')
        .replace(/[A-Z]/g, (letter) => letter.toLowerCase());
      let number = numbers.get(key);
      if (number === undefined) {
        number = literals.length;
        numbers.set(key, number);
        literals.push(literal);
        testsOf.push([]);
      }
      if (testsOf[number]!.at(-1) !== index) testsOf[number]!.push(index);
    }
  }
  const automaton = buildAhoCorasick(literals, { caseless: true });
  const hits = new Uint32Array(automaton.hitWords);
  /** Number of the last search in which a literal of the test was found. */
  const foundIn = new Float64Array(testCount);
  let search = 0;
  return {
    foundIn,
    /** Searches a range and returns the number of this search: `foundIn[test]` is that number where one of its literals occurs. */
    run(buf: Uint8Array, start: number, end: number): number {
      search++;
      if (!automaton.scan(buf, start, end, hits)) return search;
      for (let word = 0; word < hits.length; word++) {
        let bits = hits[word]!;
        if (bits === 0) continue;
        hits[word] = 0;
        while (bits !== 0) {
          const bit = 31 - Math.clz32(bits);
          bits = (bits & ~(1 << bit)) >>> 0;
          for (const index of testsOf[word * 32 + bit]!) foundIn[index] = search;
        }
      }
      return search;
    },
  };
};

export type LiteralSearch = ReturnType<typeof createLiteralSearch>;
