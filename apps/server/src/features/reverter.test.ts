import { systemActor } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { expect, test } from 'vitest';
import { objectReverter } from './object-reverter.ts';
import { fieldsOf, ifThere, settleEach, type Touched } from './reverter.ts';

test('what follows from changes has its turn for every kind, and the first failure is told', async () => {
  const turns: unknown[] = [];
  const settling = (name: string, error?: Error) => ({
    async settle(all: readonly Touched[]) {
      turns.push([name, all.map(({ id }) => id)]);
      if (error) throw error;
    },
  });
  const one = [{ key: 'a', id: 1 }];
  await settleEach(new Map([[settling('fine'), one]]));
  const kinds = [settling('first', new Error('1')), settling('second'), settling('third', new Error('3'))];
  await expect(settleEach(new Map(kinds.map((kind) => [kind, one])))).rejects.toThrow('1');
  expect(turns).toEqual(['fine', 'first', 'second', 'third'].map((name) => [name, [1]]));
});

test('of a state the fields that it has are taken, also those that hold nothing', () => {
  expect(fieldsOf({ a: 1, b: null, c: 3 } as never, ['a', 'b', 'd'])).toEqual({ a: 1, b: null });
});

test('only an object that is not there is none', async () => {
  expect(await ifThere(Promise.resolve('x'))).toBe('x');
  expect(await ifThere(Promise.reject(refuse.notFound('gone')))).toBeUndefined();
  await expect(ifThere(Promise.reject(refuse.conflict('taken')))).rejects.toThrow('taken');
  await expect(ifThere(Promise.reject(Object.assign(new Error('404'), { status: 404 })))).rejects.toThrow('404');
});

test('an object goes back by the ways in which everybody changes it, and comes back under its own name', async () => {
  const [tx, actor] = [{} as Executor, systemActor('test')];
  const did: unknown[] = [];
  const within = {
    create: async (...[, ...args]: unknown[]) => ({ id: did.push(['create', ...args]) }),
    update: async (...[, ...args]: unknown[]) => ({ id: did.push(['update', ...args]) }),
    remove: async (...[, ...args]: unknown[]) => ({ id: did.push(['remove', ...args]) }),
  };
  const settled: unknown[] = [];
  const reverter = objectReverter({
    ...{ policy: 'member', fields: ['name', 'port'] },
    objects: {
      within,
      get: async (key) => (key === 'gone' ? Promise.reject(refuse.notFound('gone')) : { uuid: key }),
    },
    store: () => ({ find: async (key) => ({ uuid: key }) }),
    settle: async (ids) => void settled.push(ids),
  });
  const state = { id: 7, uuid: 'u', created_at: 'then', updated_at: 'later', name: 'n', port: 9 };
  expect([
    await reverter.apply(tx, { does: 'update', key: 'u', fields: { name: 'n', updated_at: 'later' } }, actor),
    await reverter.apply(tx, { does: 'remove', key: 'u' }, actor),
    await reverter.apply(tx, { does: 'restore', key: 'u', state }, actor),
  ]).toEqual([1, 2, 3].map((id) => ({ key: 'u', id })));
  expect(did).toEqual([
    ['update', 'u', { name: 'n' }, actor],
    ['remove', 'u', actor],
    ['create', { name: 'n', port: 9 }, actor, { id: 7, uuid: 'u', created_at: 'then' }],
  ]);
  await reverter.settle([
    { key: 'a', id: 1 },
    { key: 'b', id: 2 },
  ]);
  expect(settled).toEqual([[1, 2]]);
  expect([await reverter.current(tx, 'u'), await reverter.show('u'), await reverter.show('gone')]).toEqual([
    ...[{ uuid: 'u' }, { uuid: 'u' }, undefined],
  ]);
  expect([reverter.policy, Object.hasOwn(reverter, 'prepare'), Object.hasOwn(reverter, 'many')]).toEqual([
    ...['member', false, false],
  ]);
  const [prepare, many] = [async () => {}, { current: async () => new Map(), apply: async () => undefined }];
  const whole = objectReverter({
    ...{ policy: 'member', fields: [], prepare, many, store: () => ({ find: async () => undefined }) },
    ...{ objects: { within, get: async () => ({}) }, settle: async () => {} },
  });
  expect([whole.prepare, whole.many]).toEqual([prepare, many]);
});
