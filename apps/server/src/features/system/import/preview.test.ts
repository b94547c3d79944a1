import type { Reading } from '@sallyport/import';
import { expect, test } from 'vitest';
import type { PresentHost } from '../../host-intake.ts';
import type { PlannedHost } from './plan.ts';
import { toPreview, warningOf } from './preview.ts';
import type { StoredSession } from './store.ts';

const SESSION = {
  ...{ uuid: 'u', filename: 'Caddyfile', state: 'reviewing', source: 'caddyfile', attempts: 1, outcome: null },
  ...{ created_at: 'then', updated_at: 'now', user_id: 1, user_email: 'a' },
} as unknown as StoredSession;
const place = { file: 'Caddyfile', line: 3 };
const told = (message: string) => ({ ...place, message });

const planned = (more: Partial<PlannedHost> = {}): PlannedHost => {
  const input = { domain: 'A.test, b.test', forward_scheme: 'http', forward_host: '::1', forward_port: 9 } as const;
  const imported = { ...input, ...place, warnings: [told('w')] };
  return { ...{ imported, input, names: ['a.test', 'b.test'], issue: null, conflicts: [], owners: [] }, ...more };
};

const reading = { errors: [told('e')], warnings: [told('x')], staticFiles: [told('s')] } as unknown as Reading;
const previewOf = (...plan: PlannedHost[]) => toPreview(SESSION, reading, plan);

test('shows each host with its names, its place and what stands in its way', () => {
  expect(previewOf(planned())).toEqual({
    session: {
      ...{ uuid: 'u', filename: 'Caddyfile', state: 'reviewing', source: 'caddyfile' },
      ...{ created_at: 'then', updated_at: 'now' },
    },
    hosts: [
      {
        ...{ domain: 'a.test,b.test', forward_host: '::1', forward_port: 9, forward_scheme: 'http', name: '' },
        ...{ file: 'Caddyfile', line: 3, access_list: null, certificate: null, warnings: [told('w')], issue: null },
        ...{ conflicts: [], existing: [], changes: [] },
      },
    ],
    conflicts: [],
    errors: [told('e')],
    warnings: [told('x'), told('s')],
  });
  const { imported } = planned();
  const named = { ...imported, name: 'n', column: 0, access_list: 'l', certificate: 'c' };
  expect(previewOf(planned({ imported: named, names: [], issue: 'it is none' })).hosts).toMatchObject([
    { domain: 'A.test, b.test', name: 'n', column: 0, access_list: 'l', certificate: 'c', issue: 'it is none' },
  ]);
});

test('tells whose place a host would take, and what that changes', () => {
  const owner = (id: number, domain: string) =>
    ({ id, uuid: `u${id}`, domain, forward_host: '::1', forward_port: 8, enabled: true }) as PresentHost;
  const [first, second] = [owner(1, 'a.test'), owner(2, 'b.test')];
  const { input } = planned();
  const plan = planned({
    ...{ input: { ...input, enabled: true, name: undefined as never }, conflicts: ['a.test', 'b.test'] },
    owners: [first, second],
  });
  const { hosts, conflicts } = previewOf(plan, planned({ conflicts: ['c.test'] }));
  expect(conflicts).toEqual(['a.test', 'b.test', 'c.test']);
  expect(hosts[0]?.existing).toEqual([
    { uuid: 'u1', domain: 'a.test' },
    { uuid: 'u2', domain: 'b.test' },
  ]);
  expect(hosts[0]?.changes).toEqual([
    { field: 'domain', before: 'a.test', after: 'a.test,b.test' },
    { field: 'forward_scheme', before: undefined, after: 'http' },
    { field: 'forward_port', before: 8, after: 9 },
  ]);
});

test('warnings of hosts and of files are counted together', () => {
  const all = ': not all that the files say can be imported';
  const host = (count: number) => ({ warnings: Array(count).fill(told('w')) }) as never;
  expect(warningOf({ hosts: [], warnings: [] })).toBe('');
  expect(warningOf({ hosts: [host(1)], warnings: [] })).toBe(`1 warning${all}`);
  expect(warningOf({ hosts: [host(1), host(2)], warnings: [told('w')] })).toBe(`4 warnings${all}`);
});
