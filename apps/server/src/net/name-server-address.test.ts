import { expect, test } from 'vitest';
import { parseNameServers } from './name-server-address.ts';

test.each([
  ['', []],
  ['192.0.2.1', ['192.0.2.1']],
  [' 192.0.2.1:5353,\t2001:db8::1 ', ['192.0.2.1:5353', '2001:db8::1']],
  ['192.0.2.1:65535 192.0.2.1:1', ['192.0.2.1:65535', '192.0.2.1:1']],
  ['[2001:db8::1]:53 [2001:db8::2]', ['[2001:db8::1]:53', '2001:db8::2']],
])('%j is read', (text, servers) => {
  expect(parseNameServers(text)).toEqual(servers);
});

test.each([
  'ns1.example.com',
  'x[2001:db8::1]:53',
  '[2001:db8::1]:53x',
  'x192.0.2.1:53',
  '192.0.2.1:53x',
  '192.0.2.1:0',
  '192.0.2.1:65536',
  '192.0.2.1:',
  '[192.0.2.1',
  'fe80::1%eth0',
  '1.2.3',
])('%j is refused', (text) => {
  expect(() => parseNameServers(text)).toThrow('is no address of a name server');
});
