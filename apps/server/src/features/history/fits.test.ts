import { changeOf } from '@sallyport/store/history/state';
import { expect, test } from 'vitest';
import type { Reverter } from '../reverter.ts';
import { checkUnchanged, undoingOf } from './fits.ts';
import { runsOf } from './runs.ts';

const refusal = async (before: object | undefined, after: object | undefined, current: object | undefined) => {
  const change = changeOf(before, after);
  if (!change) throw new Error('nothing was changed');
  let asked: readonly string[] | undefined;
  const since = async (fields?: readonly string[]) => {
    asked = fields;
    return 'by somebody';
  };
  const error = await checkUnchanged(change, current, since).then(
    () => undefined,
    (one: { message: string; status: number; details?: string }) => one,
  );
  return error && { said: error.message, status: error.status, details: error.details, asked };
};

test('a change is taken back as long as what it changed is what it made of it', async () => {
  const [before, after] = [
    { port: 1, name: 'a', host: 'x' },
    { port: 2, name: 'b', host: 'x' },
  ];
  expect(await refusal(before, after, after)).toBeUndefined();
  // Others may have changed other fields meanwhile.
  expect(await refusal(before, after, { ...after, host: 'y', more: true })).toBeUndefined();
  const told = { status: 409, details: 'by somebody' };
  expect(await refusal(before, after, { ...after, port: 3 })).toEqual({
    ...{ ...told, said: 'It has been changed since: port', asked: ['port'] },
  });
  expect(await refusal(before, after, before)).toEqual({
    ...{ ...told, said: 'It is as it was before this change already', asked: ['port', 'name'] },
  });
  expect(await refusal(before, after, undefined)).toMatchObject({ ...told, said: 'It has been deleted since' });
  // Half of it was taken back by somebody.
  expect(await refusal(before, after, { ...after, name: 'a' })).toMatchObject({
    said: 'It has been changed since: name',
  });
});

test('what came goes while it is as it came; what went comes back while there is none', async () => {
  const object = { port: 1, name: null };
  expect(await refusal(undefined, object, object)).toBeUndefined();
  expect(await refusal(undefined, object, { port: 1 })).toBeUndefined();
  expect(await refusal(undefined, object, { port: 2, name: null })).toMatchObject({
    said: 'It has been changed since: port',
  });
  expect(await refusal(undefined, object, undefined)).toMatchObject({ said: 'It has been deleted since' });
  expect(await refusal(object, undefined, undefined)).toBeUndefined();
  expect(await refusal(object, undefined, object)).toMatchObject({ said: 'It is there again', status: 409 });
});

test('a field that was not there before is as it was when it is not there', async () => {
  expect(await refusal({ a: 1 }, { a: 1, b: 2 }, { a: 1 })).toMatchObject({
    said: 'It is as it was before this change already',
  });
});

test('taking back gives fields, or all of an object, back, or has it go', () => {
  const [before, after] = [{ a: 1 }, { a: 2 }];
  expect(undoingOf('k', { before, after })).toEqual({ does: 'update', key: 'k', fields: before });
  expect(undoingOf('k', { before, after: null })).toEqual({ does: 'restore', key: 'k', state: before });
  expect(undoingOf('k', { before: null, after })).toEqual({ does: 'remove', key: 'k' });
});

test('changes are taken back together in their order: those of one kind that can be, each object once', () => {
  const [many, other] = [{ many: {} }, { many: {} }] as unknown as Reverter[];
  const single = {} as Reverter;
  const of = (reverter: Reverter | undefined, ...keys: string[]) =>
    keys.map((key) => ({ key, reverter: reverter as Reverter }));
  const runs = (...changes: ReturnType<typeof of>) => runsOf(changes).map((run) => run.map(({ key }) => key).join(''));
  expect(runs()).toEqual([]);
  expect(runs(...of(many, 'a', 'b', 'c'))).toEqual(['abc']);
  expect(runs(...of(many, 'a', 'b', 'a', 'c', 'b'))).toEqual(['ab', 'acb']);
  expect(runs(...of(many, 'a'), ...of(other, 'b', 'c'), ...of(many, 'd'))).toEqual(['a', 'bc', 'd']);
  expect(runs(...of(single, 'a', 'b'))).toEqual(['a', 'b']);
});
