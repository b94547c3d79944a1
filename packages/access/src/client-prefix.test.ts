import { expect, test } from 'vitest';
import { clientPrefix } from './client-prefix.ts';

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:0:1:aaaa::1', '2001:db8:0:1::/64'],
  ['2001:db8:0:1:bbbb::2', '2001:db8:0:1::/64'],
  ['2001:db8:0:2::1', '2001:db8:0:2::/64'],
  ['', ''],
  ['unix', 'unix'],
])('%s counts as %s', (address, client) => {
  expect(clientPrefix(address)).toBe(client);
});
