import { expect, test } from 'vitest';
import { RuntimeRefused, RuntimeUnavailable } from './runtime-errors.ts';

test('who reads a refusal learns what was asked and what HAProxy said to it, not at any length', () => {
  const refused = new RuntimeRefused('show info', `\n Unknown command.\n${'x'.repeat(400)}\n`);
  expect(refused).toMatchObject({
    name: 'RuntimeRefused',
    message: `HAProxy refused "show info": Unknown command.\n${'x'.repeat(283)}`,
    reply: `\n Unknown command.\n${'x'.repeat(400)}\n`,
  });
  expect(new RuntimeRefused('a', ' b ').message).toBe('HAProxy refused "a": b');
  expect(new RuntimeUnavailable('no answer')).toMatchObject({ name: 'RuntimeUnavailable', message: 'no answer' });
});
