import { Type } from '@sallyport/contract/schema';
import { expect, test } from 'vitest';
import { withStore } from '../testing/with-store.ts';
import { checkEach, checkWritten, createRowCheck } from './check-row.ts';

test('a row is what the API could answer with, as far as it has its fields', async () => {
  const check = createRowCheck(
    Type.Object({
      ...{ name: Type.String({ minLength: 1 }), on: Type.Boolean(), rules: Type.Array(Type.Number()) },
      ...{
        extra: Type.Object({ a: Type.Number() }),
        absent: Type.String(),
        none: Type.Union([Type.Null(), Type.String()]),
      },
    }),
  );
  const row = { name: 'n', on: 1, rules: '[1]', extra: '{"a":1}', none: null, sealed: 'x' };
  const shown = { name: 'n', on: true, rules: [1], extra: { a: 1 }, none: null };
  expect(await check(row)).toEqual(shown);
  expect(await check({ ...row, on: 0 })).toEqual({ ...shown, on: false });
  await expect(check({ ...row, on: 2 })).rejects.toThrow(/^on /);
  await expect(check({ ...row, name: '' })).rejects.toThrow(/^name /);
  await expect(check({ ...row, rules: '[' })).rejects.toThrow();
  await expect(check({ ...row, rules: '["x"]' })).rejects.toThrow(/^rules\/0 /);
});

test('what is stored is as it would be written, or said not to be', () => {
  expect(() => checkWritten('domain', 'a', 'a')).not.toThrow();
  expect(() => checkWritten('domain', 'A', 'a')).toThrow('domain is not as it is stored');
});

test('the first row that is not right is told by what it is', () =>
  withStore(async ({ kysely }) => {
    const seen: unknown[] = [];
    const look = (wrong: unknown) =>
      checkEach(
        kysely,
        'settings',
        ({ key }) => `the setting ${key}`,
        async ({ key }) => {
          seen.push(key);
          if (key === wrong) throw new Error('it is none');
        },
      );
    await kysely.deleteFrom('settings').execute();
    const rows = ['a', 'b'].map((key) => ({ key, value: 'x' }));
    await kysely.insertInto('settings').values(rows).execute();
    await look(undefined);
    expect(seen.splice(0).toSorted()).toEqual(['a', 'b']);
    await expect(look('b')).rejects.toMatchObject({ status: 400, message: 'the setting b: it is none' });
  }));
