import { expect, test } from 'vitest';
import { givenHost } from '../../../../test/support/haproxy/given.ts';
import type { DesiredHost } from '../model/desired.ts';
import { encodeRoute } from '../routes/route-record.ts';
import { createRouteBook } from './route-book.ts';

const host = (id: number, ...names: string[]): DesiredHost => givenHost({ id, names, origin: { port: 8_000 + id } });
const put = (one: DesiredHost) => ({ type: 'put', host: one }) as const;
const remove = (id: number) => ({ type: 'remove', id }) as const;
const unservable = givenHost({ id: 1, names: ['b.test'], origin: { port: 80, address: 'no.address' } });

test('a changed host has its new names, and gives up the others', async () => {
  const book = createRouteBook();
  const changed = host(1, 'b.test', 'c.test');
  book.change([put(host(1, 'a.test', 'b.test'))]);
  const { changedNames, refused } = book.change([put(changed)]);
  expect([...changedNames]).toEqual([
    ['a.test', undefined],
    ['b.test', encodeRoute(changed)],
    ['c.test', encodeRoute(changed)],
  ]);
  expect(refused.size).toBe(0);
  expect(book.get(1)).toBe(changed);
  expect(book.size).toBe(1);
  // Somebody else may have what was given up, nobody what was not.
  expect(book.change([put(host(2, 'a.test'))]).refused.size).toBe(0);
  expect([...book.change([put(host(3, 'c.test'))]).refused]).toEqual([[3, 'another host (id 1) already has c.test']]);
});

test('a removed host gives up its names; one that is not there is no error', () => {
  const book = createRouteBook();
  book.change([put(host(1, 'a.test'))]);
  expect([...book.change([remove(1), remove(2)]).changedNames]).toEqual([['a.test', undefined]]);
  expect(book.get(1)).toBeUndefined();
  expect(book.change([put(host(3, 'a.test'))]).refused.size).toBe(0);
  expect([...book.values()].map(({ id }) => id)).toEqual([3]);
});

test('what cannot be served is refused with the reason, and what was served before stays in force', () => {
  const book = createRouteBook();
  const before = host(1, 'a.test');
  book.change([put(before)]);
  const reason = 'the origin\'s address is not an IP address: "no.address"';
  const { changedNames, refused } = book.change([put(unservable), put(host(2)), put(host(3, 'a b'))]);
  expect(changedNames.size).toBe(0);
  expect([...refused.keys()]).toEqual([1, 2, 3]);
  expect(refused.get(1)).toBe(reason);
  expect(refused.get(2)).toBe('the host has no name');
  expect([...book.refused]).toEqual([...refused]);
  expect(book.get(1)).toBe(before);
  // Refused no more, once it can be served or is gone; of one change, the last word counts.
  expect(book.change([put(unservable), put(host(1, 'b.test'))]).refused.size).toBe(0);
  book.change([remove(2)]);
  expect([...book.refused.keys()]).toEqual([3]);
});

test('a fault of ours is no host that cannot be served', () => {
  const broken = { ...host(1, 'a.test'), origin: undefined as unknown as DesiredHost['origin'] };
  expect(() => createRouteBook().change([put(broken)])).toThrow(TypeError);
});

test('everything is replaced, and the records of what can be served are told', async () => {
  const book = createRouteBook();
  book.change([put(host(1, 'old.test')), put(unservable)]);
  const [first, thief, second] = [host(2, 'a.test'), host(3, 'a.test', 'b.test'), host(4, 'b.test')];
  expect([...(await book.reset([first, thief, second]))]).toEqual([
    ['a.test', encodeRoute(first)],
    ['b.test', encodeRoute(second)],
  ]);
  expect([...book.refused.keys()]).toEqual([3]);
  expect([...book.values()]).toEqual([first, second]);
  expect(book.change([put(host(5, 'old.test'))]).refused.size).toBe(0);
  // The same host twice: the later one, and only its names.
  expect([...(await book.reset([host(1, 'a.test'), host(1, 'b.test')])).keys()]).toEqual(['b.test']);
});

test('others have their turn while it goes through many hosts', async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  const many = Array.from({ length: 3_000 }, (_, index) => host(index + 1, `n${index}.test`));
  setImmediate(count);
  await createRouteBook().reset(many);
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(2);
});
