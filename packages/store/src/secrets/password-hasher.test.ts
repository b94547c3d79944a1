import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { createPasswordHasher } from './password-hasher.ts';

test('verifies what it hashed, in every Unicode form, and nothing else', async () => {
  const { hash, verify } = createPasswordHasher();
  const stored = await hash('Pässwörd ① long', true);
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await verify(async () => stored, 'Pässwörd ① long'.normalize('NFD'), true)).toBe(true);
  expect(await verify(async () => stored, 'Pässwörd ② long', true)).toBe(false);
  expect(await hash('Pässwörd ① long', true)).not.toBe(stored);
});

test('finds nothing right about a user who does not exist', async () => {
  const { verify } = createPasswordHasher();
  expect(await verify(async () => null, '', false)).toBe(false);
  expect(await verify(async () => null, 'anything', false)).toBe(false);
});

test('lets only so many wait: the rest get a 429, but the local host finds a place and goes first', async () => {
  const { hash } = createPasswordHasher({ concurrency: 1, maxWaiting: 3 });
  const order: string[] = [];
  const outside = Array.from({ length: 8 }, (_, n) =>
    hash(`password ${n}`, false).then(
      () => order.push(`outside ${n}`),
      (error: { status: number }) => order.push(`${error.status}`),
    ),
  );
  const local = hash('password', true).then(() => order.push('local'));
  await Promise.all([...outside, local]);
  expect(order).toEqual(['429', '429', '429', '429', 'outside 0', 'local', 'outside 1', 'outside 2', 'outside 3']);
});

test('those of the local host keep their order, and somebody has always found a place', async () => {
  const { hash } = createPasswordHasher({ concurrency: 1, maxWaiting: 1 });
  const order: string[] = [];
  const asked = (name: string, isLocal: boolean) =>
    hash('password', isLocal).then(
      () => order.push(name),
      ({ status, headers }: { status: number; headers: unknown }) =>
        order.push(`${name}: ${status} ${JSON.stringify(headers)}`),
    );
  await Promise.all([
    asked('first', true),
    asked('second', true),
    asked('third', true),
    asked('fourth', true),
    asked('outside', false),
  ]);
  const refused = '429 {"retry-after":"2"}';
  expect(order).toEqual([`fourth: ${refused}`, `outside: ${refused}`, 'first', 'second', 'third']);
  await asked('afterwards', false);
  expect(order.at(-1)).toBe('afterwards');
});

test('a core is left to others, and a place that fails is given back', async () => {
  const { verify } = createPasswordHasher();
  const most = Math.max(1, availableParallelism() - 1);
  let begun = 0;
  const gate = Promise.withResolvers<null>();
  const find = () => {
    begun += 1;
    return gate.promise;
  };
  const all = Array.from({ length: most + 3 }, () => verify(find, 'password', true).catch(() => 'failed'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toBe(most);
  gate.reject(new Error('the store is away'));
  expect(await Promise.all(all)).toEqual(all.map(() => 'failed'));
  expect(begun).toBe(all.length);
});

test('leaves the event loop free while it computes', async () => {
  const { hash } = createPasswordHasher();
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await hash('password', true);
  isDone = true;
  // On the event loop there would be one turn at most.
  expect(turns).toBeGreaterThan(10);
});
