import type { PcreNode } from './ast.ts';
import { type AttackText, attackTexts, pumped } from './attack-texts.ts';
import { createBacktracker } from './backtracker.ts';
import { PatternError } from './pattern-error.ts';
import { compileProgram } from './program.ts';

/** Steps after which a measurement is given up. */
const maxSteps = 60_000;
const shortPumps = 16;
/** Growth at a doubling of the text from which on it is not linear any more: a square would be four. */
const squareGrowth = 3;
/** Growth at a doubling that no power worth naming explains. */
const exponentialGrowth = 50;

const quoted = (text: string): string =>
  JSON.stringify(text).replace(/[\x7f-\xff]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);

/**
 * Why a backtracking engine would be superlinear on the pattern, with an attack text; null when none of the texts tried
 * shows it. Measured, not proven: the pattern is run by plain backtracking on texts of doubling length.
 */
export const findSuperlinear = (root: PcreNode, slots: number): string | null => {
  let matcher: ReturnType<typeof createBacktracker>;
  try {
    matcher = createBacktracker(compileProgram(root, 'backtracking', true), slots, false);
  } catch (error) {
    if (error instanceof PatternError) return `cannot be tried by backtracking: ${error.message}`;
    throw error;
  }
  const captures = new Int32Array(slots);

  /** Steps of a whole search; null when given up, or when there is a match: then nothing is tried in vain. */
  const steps = (attack: AttackText, times: number): number | null => {
    const bytes = pumped(attack, times);
    const budget = { units: maxSteps, exceeded: false };
    for (let at = 0; at <= bytes.length; at++) {
      if (matcher.matchAt(bytes, 0, bytes.length, at, captures, budget)) return null;
      if (budget.exceeded) return maxSteps;
    }
    return maxSteps - budget.units;
  };

  let worst: { growth: number; attack: AttackText } | null = null;
  for (const attack of attackTexts(root)) {
    const once = steps(attack, shortPumps);
    const twice = steps(attack, shortPumps * 2);
    const fourfold = steps(attack, shortPumps * 4);
    if (once === null || twice === null || fourfold === null) continue;
    // Given up at the longest text: the shorter ones still tell how it grows.
    const growth = fourfold < maxSteps ? fourfold / twice : once < maxSteps ? twice / once : exponentialGrowth;
    if (growth >= squareGrowth && growth > (worst?.growth ?? 0)) worst = { growth, attack };
  }
  if (worst === null) return null;
  const { growth, attack } = worst;
  const power =
    growth >= exponentialGrowth
      ? 'exponentially'
      : `like the input length to the power ${Math.log2(growth).toFixed(1)}`;
  return `backtracking grows ${power} on ${quoted(attack.prefix)}, then ${quoted(attack.pump)} many times, then ${quoted(attack.suffix)}`;
};
