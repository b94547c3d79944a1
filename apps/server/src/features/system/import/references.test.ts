import type { ImportedHost, Reading } from '@sallyport/import';
import { systemActor } from '@sallyport/store/actor';
import { type Refusal, refuse } from '@sallyport/store/errors';
import { expect, test } from 'vitest';
import type { HostIntake } from '../../host-intake.ts';
import type { PlannedHost } from './plan.ts';
import { createBringInReferences } from './references.ts';

const planned = (domain: string, fields: Partial<ImportedHost>): PlannedHost => {
  const input = { domain, forward_scheme: 'http', forward_host: '127.0.0.1', forward_port: 9 } as const;
  const imported = { ...input, file: 'f', line: 1, warnings: [], ...fields };
  return { imported, input, names: [domain], issue: null, conflicts: [], owners: [] };
};

const named = (...names: string[]) => names.map((name) => ({ name }) as never);

/** What comes in of these hosts, and what was asked to be stored for them: `refused` is nobody's, `unknown` not there. */
const bringIn = async (hosts: PlannedHost[], reading: Partial<Reading> = {}) => {
  const asked: unknown[] = [];
  const idsOf = (first: number, all: readonly { name: string }[]) => {
    asked.push(all.map(({ name }) => name));
    const ids = all.map(({ name }, index): [string, number | Refusal] => [
      name,
      name === 'refused' ? refuse.invalid('it is none') : first + index,
    ]);
    return new Map(ids.filter(([name]) => name !== 'unknown'));
  };
  const intake = {
    bringInLists: async (_tx, lists) => idsOf(10, lists),
    bringInCertificates: async (_tx, certificates) => idsOf(20, certificates),
  } satisfies Pick<HostIntake, 'bringInLists' | 'bringInCertificates'>;
  const all = named('first', 'second', 'refused', 'unknown');
  const { incoming, left, certificates } = await createBringInReferences(intake)(
    {} as never,
    hosts.map((host, index) => ({ host, replaces: index === 0 })),
    { accessLists: all, certificates: all, ...reading } as Reading,
    systemActor('test'),
  );
  return {
    ...{ asked, certificates, left: left.map(({ imported, message }) => [imported.domain, message]) },
    incoming: incoming.map(({ host: { input }, replaces }) => ({ ...input, replaces })),
  };
};

test('a host comes with what it refers to, and nothing is stored that none refers to', async () => {
  const found = await bringIn([
    planned('a', { access_list: 'second', certificate: 'first' }),
    planned('b', { certificate: 'second' }),
    planned('c', {}),
    // It serves its names until it has its own.
    planned('d', { certificate: 'first', auto_certificate: true }),
  ]);
  expect(found.asked).toEqual([['second'], ['first', 'second']]);
  expect(found.certificates).toEqual([20, 21]);
  expect(found.left).toEqual([]);
  expect(found.incoming).toMatchObject([
    { domain: 'a', access_list_id: 10, certificate_id: 20, replaces: true },
    { domain: 'b', certificate_id: 21, replaces: false },
    { domain: 'c' },
    { domain: 'd' },
  ]);
  expect(found.incoming.map((host) => Object.keys(host).filter((name) => name.endsWith('_id')))).toEqual([
    ['access_list_id', 'certificate_id'],
    ['certificate_id'],
    [],
    [],
  ]);
});

test('a host whose list or certificate can not be stored is left, and says why', async () => {
  const found = await bringIn([
    planned('a', { access_list: 'refused' }),
    planned('b', { access_list: 'first', certificate: 'refused' }),
    planned('c', { access_list: 'unknown' }),
    planned('d', { certificate: 'unknown', auto_certificate: true }),
    planned('e', { access_list: 'refused', certificate: 'refused' }),
    planned('f', { access_list: 'first' }),
  ]);
  expect(found.incoming).toMatchObject([{ domain: 'f', access_list_id: 10 }]);
  expect(found.certificates).toEqual([]);
  expect(found.left).toEqual([
    ['a', 'its access list refused: it is none'],
    ['b', 'its certificate refused: it is none'],
    ['c', 'its access list unknown: is missing'],
    ['d', 'its certificate unknown: is missing'],
    ['e', 'its access list refused: it is none'],
  ]);
});

test('an upload without lists and certificates has none', async () => {
  const none = { accessLists: undefined, certificates: undefined } as unknown as Partial<Reading>;
  const found = await bringIn([planned('a', {}), planned('b', { access_list: 'first' })], none);
  expect(found.asked).toEqual([[], []]);
  expect(found.left).toEqual([['b', 'its access list first: is missing']]);
});
