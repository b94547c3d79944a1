import { expect, test } from 'vitest';
import { createComingBodies } from './coming-bodies.ts';

const given = () => {
  let now = 0;
  const coming = createComingBodies(() => now);
  const ended: string[] = [];
  const enter = (client: string, taken: number, name = client) => {
    const freed = Promise.withResolvers<void>();
    const body = { client, taken: () => taken, end: () => void ended.push(name), freed: freed.promise };
    return { ...coming.enter(body), free: freed.resolve };
  };
  return {
    enter,
    ended,
    pass(ms: number): void {
      now += ms;
    },
  };
};

const permutations = <T>(all: readonly T[]): T[][] =>
  all.length < 2
    ? [[...all]]
    : all.flatMap((one, at) => permutations(all.toSpliced(at, 1)).map((others) => [one, ...others]));

test.each(permutations(['slow', 'fast', 'other', 'own']))(
  'the slowest body of the client that takes most gives way: %s, %s, %s, %s',
  async (...order) => {
    const { enter, ended, pass } = given();
    // Two bodies together take more than one that is longer, and slower than either.
    const bodies: Record<string, [client: string, taken: number]> = {
      slow: ['many', 60],
      fast: ['many', 600],
      other: ['one', 650],
      own: ['own', 10],
    };
    const entered = order.map((name) => {
      const [client, taken] = bodies[name]!;
      // Those of one client begin at the same time, so that what they took is their speed.
      if (name === 'other') pass(-100_000);
      const upload = enter(client, taken, name);
      if (name === 'other') pass(100_000);
      return [name, upload] as const;
    });
    pass(10_000);
    const uploads = Object.fromEntries(entered);
    const room = uploads.own!.makeRoom();
    expect(ended).toEqual(['slow']);
    uploads.slow!.free();
    expect(await room).toBe(true);
  },
);

test('a body that has long been coming is slower than one that has just begun', () => {
  const { enter, ended, pass } = given();
  enter('many', 500, 'old');
  pass(60_000);
  enter('many', 100, 'new');
  void enter('own', 10).makeRoom();
  expect(ended).toEqual(['old']);
});

test('one that has begun this very moment has an advance, and is not infinitely fast', () => {
  const { enter, ended, pass } = given();
  enter('many', 5_000, 'old');
  pass(1_000);
  enter('many', 1, 'new');
  void enter('own', 10).makeRoom();
  expect(ended).toEqual(['new']);
});

test('nobody gives way to a client that takes as much', async () => {
  const { enter, ended } = given();
  enter('equal', 10);
  enter('less', 9);
  const own = enter('own', 10);
  expect(await own.makeRoom()).toBe(false);
  expect(ended).toEqual([]);
});

test('room is not waited for by a body that has to give way itself, nor made for one that has', async () => {
  const { enter, ended } = given();
  const first = enter('a', 100, 'first');
  const second = enter('b', 50, 'second');
  const third = enter('c', 10, 'third');
  const waiting = second.makeRoom();
  expect(ended).toEqual(['first']);
  // The room of the first one is not free yet.
  const last = third.makeRoom();
  expect(ended).toEqual(['first', 'second']);
  expect(await waiting).toBe(false);
  enter('d', 1_000, 'fourth');
  expect(await second.makeRoom()).toBe(false);
  expect(ended).toEqual(['first', 'second']);
  second.free();
  expect(await last).toBe(true);
  first.leave();
});

test('what is over gives no way', async () => {
  const { enter, ended } = given();
  enter('a', 100).leave();
  expect(await enter('b', 1).makeRoom()).toBe(false);
  expect(ended).toEqual([]);
});
