import { expect, test } from 'vitest';
import { closestName } from './closest-name.ts';

const FIELDS = [
  'name',
  'domain',
  'forward_scheme',
  'forward_host',
  'forward_port',
  'ssl_forced',
  'hsts_enabled',
  'block_exploits',
  'websocket_support',
  'enabled',
  'waf_enabled',
  'access_list_id',
  'certificate_id',
];

test.each([
  ['websockets', 'websocket_support'],
  ['domian', 'domain'],
  ['domains', 'domain'],
  ['port', 'forward_port'],
  ['forwardPort', 'forward_port'],
  ['Forward-Port', 'forward_port'],
  ['access_list', 'access_list_id'],
  ['enable', 'enabled'],
  ['waf', 'waf_enabled'],
  ['force_ssl', 'ssl_forced'],
])('takes %s for %s', (given, meant) => {
  expect(closestName(given, FIELDS)).toBe(meant);
});

test.each(['x', '', 'colour', '__proto__', '💥'])('takes %j for nothing', (given) => {
  expect(closestName(given, FIELDS)).toBeUndefined();
});
