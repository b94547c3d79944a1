import { expect, test } from 'vitest';
import { shownWords } from './words.ts';

test('words are one line, bounded, and without secrets in any of the spellings they may come in', () => {
  const secret = 'p&ss "wörd"/1';
  const said = [secret, encodeURIComponent(secret), JSON.stringify(secret), Buffer.from(secret).toString('base64')];
  const shown = shownWords(`failed:\n${said.join('\n\t')}`, [secret, 'p&ss']);
  expect(shown).toBe('failed: *** *** "***" ***=');
  expect(shownWords('x'.repeat(10_000), [])).toHaveLength(601);
  // Nobody’s secret, and half of every message.
  expect(shownWords('a message', ['a', '', 'mes'])).toBe('a message');
  expect(shownWords('a message', ['mess'])).toBe('a ***age');
});
