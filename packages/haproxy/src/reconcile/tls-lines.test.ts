import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSameTarget, type TlsTarget } from './tls-entries.ts';
import { type AppliedTlsLine, groupIntoLines, planTlsLines } from './tls-lines.ts';

const target = fc.record({ certificate: fc.option(fc.integer({ min: 1, max: 3 })), http2: fc.boolean() });
const name = fc.constantFrom(...Array.from({ length: 12 }, (_, index) => `n${index}.example.com`));
const entries = fc.array(fc.tuple(name, target)).map((pairs) => new Map<string, TlsTarget>(pairs));
const lines = fc.array(fc.record({ target, names: fc.array(name, { maxLength: 4 }) }));

/** Of several lines for a name HAProxy uses the oldest. */
const lookUp = (applied: readonly AppliedTlsLine[], wanted: string): TlsTarget | undefined =>
  applied.find(({ names }) => names.includes(wanted))?.target;

describe('certificate list', () => {
  test('ends up with exactly the wanted entries, and no name loses its right entry on the way', () => {
    fc.assert(
      fc.property(lines, entries, (before, wanted) => {
        let number = 0;
        let applied: AppliedTlsLine[] = before.map((line) => ({ ...line, number: ++number }));
        const initial = [...wanted].filter(([key, value]) => isSameTarget(lookUp(applied, key), value));
        const checkSteady = (): void => {
          for (const [key, value] of initial) expect(lookUp(applied, key)).toEqual(value);
        };
        const plan = planTlsLines(applied, wanted);
        for (const line of plan.add) {
          applied = [...applied, { ...line, number: ++number }];
          checkSteady();
        }
        for (const line of plan.remove) applied = applied.filter((other) => other.number !== line.number);
        const found = new Map(applied.flatMap((line) => line.names.map((key) => [key, line.target] as const)));
        expect(found).toEqual(wanted);
        expect(applied.flatMap(({ names }) => names).length).toBe(wanted.size);
        expect(planTlsLines(applied, wanted)).toEqual({ add: [], remove: [] });
      }),
      { numRuns: 500 },
    );
  });

  test('names that want the same share a line', () => {
    const same: [string, TlsTarget][] = Array.from({ length: 250 }, (_, index) => [
      `n${index}`,
      { certificate: 1, http2: false },
    ]);
    expect(groupIntoLines(same).map(({ names }) => names.length)).toEqual([100, 100, 50]);
  });
});
