import { describe, expect, test } from 'vitest';
import { crs4Folder, debianCrsFolders, readCrsPatterns } from '../../test/support/crs-patterns.ts';
import { attackTexts, pumped } from './attack-texts.ts';
import { compilePattern, createAutomatonMemory, createBudget, defaultFlags, parsePcre } from './index.ts';

const patterns = readCrsPatterns(crs4Folder === undefined ? debianCrsFolders : [...debianCrsFolders, crs4Folder]);
const shortLength = 6_000;
const longLength = 18_000;
const plenty = 1_000_000_000;
/** Work units that growing an automaton may cost before its states repeat: a few milliseconds, once. */
const maxGrowth = 1_200_000;
/** Work units each further byte may cost one pattern: one for each pass over the text. */
const maxUnitsPerByte = { test: 2, find: 4 };
/** Irregular patterns backtrack: memory of failures keeps them linear here, at a higher price. */
const maxIrregularUnitsPerByte = 40;

describe('texts that pump every loop of every pattern of the Core Rule Set', () => {
  test('cost each pattern a few units a byte, once its states are known', () => {
    const excesses: unknown[] = [];
    let attackCount = 0;
    for (const { source, ruleId } of patterns) {
      const pattern = compilePattern(source);
      for (const attack of attackTexts(parsePcre(source, defaultFlags))) {
        attackCount++;
        for (const method of ['test', 'find'] as const) {
          const unitsOn = (length: number): number => {
            const bytes = pumped(attack, Math.ceil(length / attack.pump.length));
            const budget = createBudget(plenty);
            pattern[method](bytes, 0, bytes.length, budget);
            return plenty - budget.units;
          };
          const first = unitsOn(shortLength);
          const perByte = unitsOn(longLength) / longLength;
          const most = pattern.isRegular ? maxUnitsPerByte[method] : maxIrregularUnitsPerByte;
          if (first > maxGrowth || perByte > most) excesses.push({ ruleId, attack, method, first, perByte });
        }
      }
    }
    expect(attackCount).toBeGreaterThan(patterns.length);
    expect(excesses).toEqual([]);
  });
});

test('a pattern whose automaton has more states than memory stays exact, and its cost per byte bounded', () => {
  const memory = createAutomatonMemory(200_000);
  // The automaton must remember which of the last 14 bytes were an "a": 2^14 states, and each text below visits many.
  const pattern = compilePattern('a[ab]{14}c', {}, memory);
  const bytes = new Uint8Array(200_000);
  let seed = 12345;
  for (let at = 0; at < bytes.length; at++) {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    bytes[at] = (seed >>> 16) & 1 ? 0x61 : 0x62;
  }
  const budget = createBudget(plenty);
  expect(pattern.test(bytes, 0, bytes.length, budget)).toBe(false);
  expect((plenty - budget.units) / bytes.length).toBeLessThan(100);
  expect(pattern.memory).toBeLessThan(300_000);
  expect(memory.used).toBe(pattern.memory);
  bytes[bytes.length - 16] = 0x61;
  bytes[bytes.length - 1] = 0x63;
  const found = pattern.exec(bytes, 0, bytes.length, createBudget(plenty));
  expect(found && [...found]).toEqual([bytes.length - 16, bytes.length]);
});
