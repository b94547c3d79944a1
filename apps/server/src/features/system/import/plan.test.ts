import type { ImportedHost } from '@sallyport/import';
import { refuse } from '@sallyport/store/errors';
import { expect, test } from 'vitest';
import type { PresentHost } from '../../host-intake.ts';
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
  // What would be refused has no names to claim.
  expect(planned.map(({ names }) => names)).toEqual([[], [], [], []]);
  expect(decide(planned, {})).toMatchObject({ incoming: [], skipped: 0, failed: planned });
  expect(decide(planned, { '!': 'skip' })).toMatchObject({ skipped: 1, failed: planned.slice(0, 3) });
});

test('a host without a conflict can be left out by its name, and no resolution is lost in silence', async () => {
  const planned = await plan([host('a.test,b.test', 1), host('c.test', 2)]);
  expect(decide(planned, { 'B.test': 'skip' })).toMatchObject({ skipped: 1, incoming: [{ host: planned[1] }] });
  expect(decide(planned, { 'a.test, b.test': 'keep', 'c.test': 'overwrite' })).toMatchObject({ skipped: 1 });
  expect(() => decide(planned, { 'd.test': 'skip' })).toThrow('Invalid session or unresolved conflicts');
});

const owner = (id: number) => ({ id, uuid: `u${id}`, domain: `${id}` }) as PresentHost;

/** As it stands to hosts that are there, lists that act and certificates that are good. */
const planBeside = (
  reading: Parameters<typeof planHosts>[0],
  {
    owners = {},
    judges = () => true,
    issueOf = () => undefined,
  }: {
    owners?: Record<string, PresentHost>;
    judges?: (name: string) => boolean;
    issueOf?: (name: string) => string | undefined;
  },
) =>
  planHosts(reading, {
    wouldBe: (input) => ({ fields: input, names: input.domain.split(',') }),
    isJudged: ({ name }) => judges(name),
    certificateIssue: ({ name }) => issueOf(name),
    ownersByName: async (names) => new Map(Object.entries(owners).filter(([name]) => names.includes(name))),
  });

test('names that are taken tell by whom, each host once', async () => {
  const [one, two] = [owner(1), owner(2)];
  const [first, second, third] = await planBeside(
    { hosts: [host('a.test,b.test,c.test,d.test', 1), host('a.test', 2), host('e.test', 3)] },
    { owners: { 'a.test': one, 'b.test': one, 'd.test': two } },
  );
  expect(first).toMatchObject({ conflicts: ['a.test', 'b.test', 'd.test'], owners: [one, two] });
  expect(second).toMatchObject({
    issue: 'a.test is the name of another site already, at Caddyfile:1',
    conflicts: [],
    owners: [],
  });
  expect(third).toMatchObject({ conflicts: [], owners: [], input: { domain: 'e.test', forward_port: 9 } });
  expect(third?.input).not.toHaveProperty('file');
});

test('a host comes switched off when its list would keep nobody out, and without a certificate that is not good', async () => {
  const reading = {
    hosts: [
      host('a.test', 1, { access_list: 'acts', certificate: 'good' }),
      host('b.test', 2, { access_list: 'idle', certificate: 'old', warnings: [{ file: 'f', line: 1, message: 'w' }] }),
      host('c.test', 3, { access_list: 'gone', certificate: 'gone' }),
      host('d.test', 4),
    ],
    accessLists: [{ name: 'acts' }, { name: 'idle' }] as never,
    certificates: [{ name: 'good' }, { name: 'old' }] as never,
  };
  const planned = await planBeside(reading, {
    judges: (name) => name === 'acts',
    issueOf: (name) => (name === 'old' ? 'it has expired' : undefined),
  });
  const told = planned.map(({ imported: { enabled, certificate, access_list, warnings } }) => ({
    ...{ enabled, certificate, access_list, warnings: warnings.map(({ message, line }) => `${line} ${message}`) },
  }));
  const off = (name: string) => `imported switched off: its access list ${name} would keep nobody out here yet`;
  expect(told).toEqual([
    { enabled: undefined, certificate: 'good', access_list: 'acts', warnings: [] },
    {
      ...{ enabled: false, certificate: undefined, access_list: 'idle' },
      warnings: [`2 ${off('idle')}`, '2 its certificate old is not taken over: it has expired', '1 w'],
    },
    {
      ...{ enabled: false, certificate: undefined, access_list: 'gone' },
      warnings: [`3 ${off('gone')}`, '3 its certificate gone is not taken over: it is missing'],
    },
    { enabled: undefined, certificate: undefined, access_list: undefined, warnings: [] },
  ]);
  expect(planned.map(({ input: { enabled } }) => enabled)).toEqual([undefined, false, false, undefined]);
});

test('the borders of a port and of a name are in', async () => {
  const planned = await plan([
    host('a.test', 1, { forward_port: 1 }),
    host('b.test', 2, { forward_port: 65_535 }),
    host('c.test', 3, { forward_port: 65_536 }),
    host('d.test', 4, { name: 'x'.repeat(255) }),
  ]);
  expect(planned.map(({ issue }) => issue === null)).toEqual([true, true, false, true]);
  const broken = planHosts({ hosts: [host('a.test', 1)] }, {
    wouldBe: () => {
      throw new Error('a fault');
    },
  } as never);
  await expect(broken).rejects.toThrow('a fault');
});

/** What is decided of hosts with names that others have, by domain. */
const decided = async (resolutions: Parameters<typeof decide>[1], ...hosts: [string, string[]][]) => {
  const taken = hosts.flatMap(([, names]) => names);
  const owners = Object.fromEntries(taken.map((name) => [name, owner(1)]));
  const planned = await planBeside({ hosts: hosts.map(([domain], index) => host(domain, index)) }, { owners });
  const { incoming, skipped, failed } = decide(planned, resolutions);
  return [incoming.map(({ host: { imported }, replaces }) => `${imported.domain} ${replaces}`), skipped, failed.length];
};

test('names that are taken are replaced, or their host is left out, as is said of all of them', async () => {
  const two: [string, string[]] = ['a.test,b.test', ['a.test', 'b.test']];
  const refusal = (details: string) => ({ status: 400, message: 'Invalid session or unresolved conflicts', details });
  await expect(decided({}, two)).rejects.toMatchObject(refusal('conflicts without a resolution: a.test, b.test'));
  await expect(decided({ 'a.test': 'overwrite' }, two)).rejects.toMatchObject(
    refusal('conflicts without a resolution: b.test'),
  );
  const both = decided({ 'a.test': 'overwrite', 'b.test': 'skip' }, two);
  await expect(both).rejects.toMatchObject(
    refusal('resolutions of one host that contradict each other: a.test,b.test'),
  );
  expect(await decided({ 'a.test': 'overwrite', 'b.test': 'overwrite' }, two)).toEqual([['a.test,b.test true'], 0, 0]);
  expect(await decided({ ' A.test, b.TEST': 'overwrite' }, two)).toEqual([['a.test,b.test true'], 0, 0]);
  expect(await decided({ 'a.test,b.test': 'keep' }, two)).toEqual([[], 1, 0]);
  const mixed = decided({ 'a.test': 'overwrite', 'a.test,b.test': 'skip' }, two);
  await expect(mixed).rejects.toMatchObject({ details: expect.stringContaining('contradict each other') });
  expect(await decided({ 'a.test': 'keep', 'b.test': 'skip' }, two)).toEqual([[], 1, 0]);
  // Only what is taken is asked about.
  const one: [string, string[]] = ['a.test,b.test', ['b.test']];
  expect(await decided({ 'b.test': 'overwrite' }, one)).toEqual([['a.test,b.test true'], 0, 0]);
  expect(await decided({ 'a.test': 'overwrite', 'b.test': 'overwrite' }, one)).toEqual([['a.test,b.test true'], 0, 0]);
  // What is said of a name that is free is not lost.
  const other = decided({ 'a.test': 'skip', 'b.test': 'overwrite' }, one);
  await expect(other).rejects.toMatchObject(
    refusal('resolutions of one host that contradict each other: a.test,b.test'),
  );
  expect(await decided({ 'a.test': 'skip', 'b.test': 'keep' }, one)).toEqual([[], 1, 0]);
  await expect(decided({ 'x.test': 'skip', 'y.test': 'keep' }, ['c.test', []])).rejects.toMatchObject(
    refusal('resolutions of what is not in the upload: x.test, y.test'),
  );
});

test('of many conflicts the first twenty are named', async () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, index): [string, string[]] => [`${index}`, [`${index}`]]);
  const details = async (count: number) => {
    const refusal = await decided({}, ...many(count)).catch((error: unknown) => error);
    return (refusal as { details: string }).details;
  };
  expect(await details(20)).toMatch(/, 18, 19$/);
  expect(await details(22)).toMatch(/, 18, 19 and 2 more$/);
});
