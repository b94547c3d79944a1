import { expect, test } from 'vitest';
import { normaliseNetworks, splitNetworks } from './network-list.ts';

test('networks are written in one way, each once; an empty list has none', () => {
  const text = ' 10.1.2.3/8, ,::ffff:192.0.2.1,192.0.2.1, 2001:DB8::/32 ,10.0.0.0/8';
  const list = normaliseNetworks(text, 'admin_whitelist');
  expect(splitNetworks(list)).toEqual(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32']);
  expect(splitNetworks(normaliseNetworks(' , ', 'admin_whitelist'))).toEqual([]);
});

test('a refusal names the field and the entry', () => {
  for (const wrong of ['10.0.0.0/33', 'example.com', '0x7f.1']) {
    expect(() => normaliseNetworks(`192.0.2.1,${wrong}`, 'admin_whitelist')).toThrow(`admin_whitelist "${wrong}"`);
  }
});

test('a list has 2,000 entries at most, empty ones not counted', () => {
  const entries = Array.from({ length: 2_000 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
  expect(splitNetworks(normaliseNetworks(`${entries.join(',')},,`, 'rate_limit_bypass_list'))).toHaveLength(2_000);
  expect(() => normaliseNetworks([...entries, '192.0.2.1'].join(','), 'rate_limit_bypass_list')).toThrow(
    'rate_limit_bypass_list must have at most 2000 entries',
  );
});
