import type { ImportedHost } from '@sallyport/import';
import { refuse } from '@sallyport/store/errors';
import { expect, test } from 'vitest';
import { planHosts } from './plan.ts';
import { decide } from './resolve.ts';

const host = (domain: string, line: number, fields: Partial<ImportedHost> = {}): ImportedHost => ({
  domain,
  forward_scheme: 'http',
  forward_host: '127.0.0.1',
  forward_port: 9,
  file: 'Caddyfile',
  line,
  warnings: [],
  ...fields,
});

const plan = (hosts: readonly ImportedHost[]) =>
  planHosts(
    { hosts: [...hosts] },
    {
      wouldBe(input) {
        if (input.domain.includes('!')) throw refuse.invalid('domain is not one');
        return { fields: input, names: input.domain.split(',') };
      },
      isJudged: () => true,
      certificateIssue: () => undefined,
      ownersByName: async () => new Map(),
    },
  );

test('of two sites of one upload that claim a name the second can not be imported, and says which has it', async () => {
  const [first, second, third] = await plan([host('a.test,b.test', 1), host('b.test,c.test', 4), host('c.test', 7)]);
  expect(first?.issue).toBeNull();
  expect(second?.issue).toBe('b.test is the name of another site already, at Caddyfile:1');
  // What can not be imported takes no name.
  expect(third?.issue).toBeNull();
});

test('what is no proxy host says why, whatever a source made of it', async () => {
  const planned = await plan([
    host('a.test', 1, { forward_port: 0 }),
    host('b.test', 2, { forward_port: 1.5 }),
    host('c.test', 3, { name: 'x'.repeat(256) }),
    host('!', 4),
  ]);
  expect(planned.map(({ issue }) => issue)).toEqual([
    'forward_port must be between 1 and 65535',
    'forward_port must be between 1 and 65535',
    'name must be at most 255 characters long',
    'domain is not one',
  ]);
  expect(decide(planned, {})).toMatchObject({ incoming: [], skipped: 0, failed: planned });
  expect(decide(planned, { '!': 'skip' })).toMatchObject({ skipped: 1, failed: planned.slice(0, 3) });
});

test('a host without a conflict can be left out by its name, and no resolution is lost in silence', async () => {
  const planned = await plan([host('a.test,b.test', 1), host('c.test', 2)]);
  expect(decide(planned, { 'B.test': 'skip' })).toMatchObject({ skipped: 1, incoming: [{ host: planned[1] }] });
  expect(decide(planned, { 'a.test, b.test': 'keep', 'c.test': 'overwrite' })).toMatchObject({ skipped: 1 });
  expect(() => decide(planned, { 'd.test': 'skip' })).toThrow('Invalid session or unresolved conflicts');
});
