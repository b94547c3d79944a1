import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchWithPerl } from '../../test/support/perl.ts';
import { randomPattern, randomText } from '../../test/support/random-pattern.ts';
import { createBacktracker } from './backtracker.ts';
import { countCaptures } from './count-groups.ts';
import {
  buildAhoCorasick,
  type CompiledPattern,
  classConditions,
  classMask,
  compilePattern,
  createBudget,
  defaultFlags,
  fulfilsConditions,
  PatternError,
  parsePcre,
  passesGate,
} from './index.ts';
import { compileProgram } from './program.ts';

const units = 2_000_000;

/** The leftmost match by plain backtracking from every position: slow, and simple enough to be believed. */
const matchNaively = (source: string, bytes: Uint8Array): number[] | null | undefined => {
  const root = parsePcre(source, defaultFlags);
  const slots = (countCaptures(root) + 1) * 2;
  const matcher = createBacktracker(compileProgram(root, 'backtracking', true), slots, false);
  const budget = createBudget(units);
  const captures = new Int32Array(slots);
  for (let at = 0; at <= bytes.length; at++) {
    if (matcher.matchAt(bytes, 0, bytes.length, at, captures, budget)) return [...captures];
    if (budget.exceeded) return undefined;
  }
  return null;
};

describe.each(['regular', 'irregular'] as const)('random %s patterns', (kind) => {
  test('the automata give the matches of plain backtracking, and the gate lets every match through', () => {
    fc.assert(
      fc.property(
        randomPattern(kind, true),
        fc.array(randomText(), { minLength: 1, maxLength: 6 }),
        (source, texts) => {
          const pattern = compilePattern(source);
          const conditions = classConditions(pattern.gate.byteClasses);
          for (const text of texts) {
            const bytes = Buffer.from(text, 'latin1');
            const expected = matchNaively(source, bytes);
            if (expected === undefined) continue;
            const budget = createBudget(units);
            const found = pattern.exec(bytes, 0, bytes.length, budget);
            const bounds = pattern.find(bytes, 0, bytes.length, budget);
            const isFound = pattern.test(bytes, 0, bytes.length, budget);
            if (budget.exceeded) continue;
            expect(found && [...found]).toEqual(expected);
            expect(bounds && [...bounds].slice(0, 2)).toEqual(expected?.slice(0, 2) ?? null);
            expect(isFound).toBe(expected !== null);
            if (expected === null) continue;
            expect(passesGate(pattern.gate, bytes, 0, bytes.length)).toBe(true);
            expect(fulfilsConditions(classMask(bytes, 0, bytes.length), conditions)).toBe(true);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('Perl gives the same matches and captures', () => {
    const sources = fc.sample(randomPattern(kind, false), { numRuns: 600, seed: 7 });
    const texts = [...new Set(fc.sample(randomText(), { numRuns: 40, seed: 8 }))];
    const differences: unknown[] = [];
    matchWithPerl(sources, texts).forEach((matches, index) => {
      const source = sources[index]!;
      if (typeof matches === 'string') throw new Error(`Perl refused ${source}: ${matches}`);
      const pattern = compilePattern(source);
      texts.forEach((text, subject) => {
        const bytes = Buffer.from(text, 'latin1');
        const budget = createBudget(units);
        const found = pattern.exec(bytes, 0, bytes.length, budget);
        if (budget.exceeded) return;
        // Perl keeps what a branch captured before it failed; PCRE, and we, do not.
        const compared = source.includes('|') ? 2 : found?.length;
        const ours = found && [...found].map((offset, slot) => (found[slot ^ 1]! < 0 ? -1 : offset));
        const theirs = matches.get(subject) ?? null;
        if (ours?.slice(0, compared).join() !== theirs?.slice(0, compared).join())
          differences.push({ source, text, ours, theirs });
      });
    });
    expect(differences).toEqual([]);
  });
});

describe('buildAhoCorasick', () => {
  test('finds what a search for each literal finds, whatever the case', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'B', 'b', 'c', '.'), maxLength: 20 });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 40 }), text, fc.boolean(), (literals, subject, caseless) => {
        const fold = (one: string): string => (caseless ? one.toLowerCase() : one);
        const automaton = buildAhoCorasick(
          literals.map((literal) => Buffer.from(literal)),
          { caseless },
        );
        const bytes = Buffer.from(`a${subject}c`);
        const hits = new Uint32Array(automaton.hitWords);
        const hasHits = automaton.scan(bytes, 1, bytes.length - 1, hits);
        expect(hasHits).toBe(hits.some((word) => word !== 0));
        literals.forEach((literal, index) => {
          expect(((hits[index >> 5]! >>> (index & 31)) & 1) === 1).toBe(fold(subject).includes(fold(literal)));
        });
        const first = automaton.first(bytes, 1, bytes.length - 1);
        const ends = literals.map((literal) => {
          const at = fold(subject).indexOf(fold(literal));
          return at < 0 ? Number.POSITIVE_INFINITY : at + literal.length;
        });
        const earliest = Math.min(...ends);
        if (earliest === Number.POSITIVE_INFINITY) expect(first).toBe(-1);
        else expect(ends[first]).toBe(earliest);
      }),
      { numRuns: 2000 },
    );
  });

  test('separates all 256 byte values', () => {
    const literals = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
    const automaton = buildAhoCorasick(literals, { caseless: false });
    for (let byte = 0; byte < 256; byte++) expect(automaton.first(Uint8Array.of(byte), 0, 1)).toBe(byte);
    const withPair = buildAhoCorasick([...literals, Uint8Array.of(255, 255)], { caseless: false });
    for (let byte = 0; byte < 256; byte++) expect(withPair.first(Uint8Array.of(byte), 0, 1)).toBe(byte);
  });
});

describe('any source and any bytes', () => {
  const fragment = fc.constantFrom(
    ...[
      '(',
      ')',
      '(?:',
      '(?i)',
      '(?<n>',
      '(?>',
      '(?=',
      '(?<!',
      '|',
      '[',
      ']',
      '[^',
      '-',
      '[:alpha:]',
      '\\',
      '\\x',
      '{',
      '}',
    ],
    ...[
      '\\d',
      '\\Q',
      '\\E',
      '\\1',
      '\\g{-1}',
      '*',
      '+',
      '?',
      '{2,5}',
      '{60}',
      'a',
      'Z',
      '.',
      '^',
      '$',
      ' ',
      '#',
      '\xff',
      '\0',
    ],
  );

  test('a source is refused with a place in it, or compiled; then no text makes it throw', () => {
    fc.assert(
      fc.property(
        fc.array(fragment, { maxLength: 12 }).map((fragments) => fragments.join('')),
        fc.uint8Array({ maxLength: 60 }),
        fc.boolean(),
        (source, bytes, extended) => {
          let pattern: CompiledPattern;
          try {
            pattern = compilePattern(source, { extended });
          } catch (error) {
            expect(error).toBeInstanceOf(PatternError);
            expect((error as PatternError).offset).toBeGreaterThanOrEqual(0);
            expect((error as PatternError).offset).toBeLessThanOrEqual(source.length);
            return;
          }
          const budget = createBudget(200_000);
          const found = pattern.exec(bytes, 0, bytes.length, budget);
          if (!budget.exceeded)
            expect(pattern.test(bytes, 0, bytes.length, createBudget(400_000))).toBe(found !== null);
        },
      ),
      { numRuns: 4000 },
    );
  });
});
