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
