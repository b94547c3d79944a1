import { expect, test } from 'vitest';
import { judgedAnew } from './judged-anew.ts';

const host = (id: number, more: object = {}) => ({ id, access_list_id: null, waf_enabled: true, ...more });
const listed = (id: number, access_list_id: number) => host(id, { access_list_id });

test.each([
  ['the same', [listed(1, 5)], [listed(1, 5)], []],
  ['another list', [listed(1, 5), listed(2, 5)], [listed(1, 6), listed(2, 5)], [1]],
  ['a first list', [], [listed(1, 5)], [1]],
  ['no list any more', [listed(1, 5)], [], [1]],
  ['without the firewall', [], [host(1, { waf_enabled: false })], [1]],
  ['a body limit of its own', [host(1)], [host(1, { waf_body_limit: 7 })], [1]],
  ['other settings', [host(1, { waf_settings: { a: 'b' } })], [host(1, { waf_settings: { a: 'c' } })], [1]],
  ['the same settings', [host(1, { waf_settings: { a: 'b' } })], [host(1, { waf_settings: { a: 'b' } })], []],
  // A host that has nothing of its own but its origin is named as well.
  ['as any other host', [], [host(1)], []],
  ['and not named any more', [host(1)], [], []],
])('a host is judged anew: %s', (_what, before, after, changed) => {
  expect(judgedAnew(before, after)).toEqual(changed);
});
