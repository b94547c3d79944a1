import { expect, test } from 'vitest';
import { detectScript } from '../../src/operators/html/detect-script.ts';
import { scriptAttacks, scriptPlaces } from './script-attacks.ts';

const each = 2_000;
const attacks = scriptAttacks(8)
  .take(each * scriptPlaces.length)
  .toArray();

test.each(scriptPlaces)('script put into %s is found', (place) => {
  const missed = attacks.filter((attack) => {
    const value = Buffer.from(attack.text, 'latin1');
    return attack.place === place && !detectScript(value, 0, value.length);
  });
  // In templates code is an attack only where it reaches what a page's own has no use for: templates of programs are code too.
  expect(missed.length / each).toBeLessThan(place === 'a template' ? 0.012 : 0.005);
});
