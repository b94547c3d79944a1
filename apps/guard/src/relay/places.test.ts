import { collectAll } from '@sallyport/deployment/collect-all';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BrokenAnswer } from './no-answer.ts';
import { createPlaces, NoPlace, type Place, TooMany, TooSlow } from './places.ts';

const [ALICE, BOB, CAROL] = ['192.0.2.1', '192.0.2.2', '2001:db8::/64'] as const;

describe('places', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const given = (total = 8, share = 3) => createPlaces({ total, share, now: () => performance.now() });
  const upload = (places: ReturnType<typeof given>, client: string): Place => {
    const place = places.enter(client);
    place.receive();
    return place;
  };
  const isTaken = ({ signal }: Place): boolean => {
    if (signal.aborted) expect(signal.reason).toBeInstanceOf(TooSlow);
    return signal.aborted;
  };
  const attempt = (enter: () => void): void => {
    try {
      enter();
    } catch (error) {
      expect(error).toBeInstanceOf(TooMany);
    }
  };
  const attemptAny = (enter: () => void): void => {
    try {
      enter();
    } catch (error) {
      expect(error instanceof TooMany || error instanceof NoPlace).toBe(true);
    }
  };
  /** Seconds pass; each brings so many bytes. */
  const pass = (seconds: number, place: Place, bytes: number): void => {
    for (let second = 0; second < seconds; second++) {
      vi.advanceTimersByTime(1_000);
      place.flowed(bytes);
    }
  };

  test('an upload that brings a byte now and then loses its place within a minute', () => {
    const place = upload(given(), ALICE);
    for (let i = 0; i < 3; i++) {
      pass(1, place, 1);
      vi.advanceTimersByTime(22_000);
    }
    expect(isTaken(place)).toBe(true);
  });

  test('a slow line may take an hour, with pauses of almost a minute', () => {
    const place = upload(given(), ALICE);
    for (let i = 0; i < 30; i++) {
      pass(60, place, 3_000);
      vi.advanceTimersByTime(55_000);
    }
    expect(isTaken(place)).toBe(false);
  });

  test('but not for ever, however steadily it flows', () => {
    const place = upload(given(), ALICE);
    pass(2 * 3_600 + 2, place, 600);
    expect(isTaken(place)).toBe(true);
  });

  test('what was sent in a hurry is no credit for hours', () => {
    const place = upload(given(), ALICE);
    pass(1, place, 13_000_000);
    vi.advanceTimersByTime(62_000);
    expect(isTaken(place)).toBe(true);
  });

  test('while it is judged, and while the origin thinks or is silent, time does not count', () => {
    const place = upload(given(), ALICE);
    place.rest();
    vi.advanceTimersByTime(3_600_000);
    place.send(() => false);
    vi.advanceTimersByTime(3 * 3_600_000);
    expect(isTaken(place)).toBe(false);
  });

  test('an upload has its time from its beginning, however long the relay runs already', () => {
    const places = given();
    const place = places.enter(ALICE);
    vi.advanceTimersByTime(24 * 3_600_000);
    place.receive();
    pass(100, place, 600);
    expect(isTaken(place)).toBe(false);
  });

  test('a client that takes nothing of its answer loses the place', () => {
    const [reader, slow] = [given().enter(ALICE), given().enter(ALICE)];
    reader.send(() => true);
    slow.send(() => true);
    for (let i = 0; i < 10; i++) {
      vi.advanceTimersByTime(200_000);
      slow.flowed(65_536);
    }
    expect([reader, slow].map(isTaken)).toEqual([true, false]);
  });

  test("a client's share is its own: the slowest of its uploads gives way to the next", () => {
    const places = given();
    const [first, second, third] = [upload(places, ALICE), upload(places, ALICE), upload(places, ALICE)];
    pass(5, first, 100_000);
    third.flowed(100_000);
    const next = upload(places, ALICE);
    expect([first, second, third, next].map(isTaken)).toEqual([false, true, false, false]);
    expect(places.inUse()).toBe(3);
  });

  test('and when all of it is used by requests that arrived, the next is refused', () => {
    const places = given();
    for (let i = 0; i < 3; i++) places.enter(ALICE);
    expect(() => places.enter(ALICE)).toThrow(TooMany);
    expect(isTaken(places.enter(BOB))).toBe(false);
  });

  test('with all places taken, the client with the most of them makes room', () => {
    const places = given(4);
    const bobs = upload(places, BOB);
    vi.advanceTimersByTime(10_000);
    const alices = [upload(places, ALICE), upload(places, ALICE), upload(places, ALICE)];
    const carols = upload(places, CAROL);
    expect(isTaken(bobs)).toBe(false);
    expect(alices.filter(isTaken)).toHaveLength(1);
    expect(isTaken(carols)).toBe(false);
  });

  test('clients whose requests all wait for their origin leave room to others', () => {
    const places = given(2_048, 512);
    for (const client of ['198.51.100.1', '198.51.100.2', '198.51.100.3', '198.51.100.4']) {
      for (let taken = 0; taken < 256; taken++) places.enter(client).wait();
      for (let taken = 256; taken < 512; taken++) attempt(() => places.enter(client).wait());
    }
    expect(places.inUse()).toBeLessThanOrEqual(2_048 - 256);
    expect(isTaken(places.enter(ALICE))).toBe(false);
  });

  test('when they are so many that no room is left, those give way whose origin has had its time', () => {
    const places = given(4, 3);
    const waiting = ['198.51.100.1', '198.51.100.1', '198.51.100.2', '198.51.100.3'].map((client) => {
      const place = places.enter(client);
      vi.advanceTimersByTime(1_000);
      place.wait();
      return place;
    });
    expect(() => places.enter(ALICE)).toThrow(NoPlace);
    vi.advanceTimersByTime(40_000);
    expect(isTaken(places.enter(ALICE))).toBe(false);
    // The first of the one with two; then nobody has more than who asks.
    expect(waiting.map(({ signal }) => signal.reason instanceof BrokenAnswer)).toEqual([true, false, false, false]);
    expect(() => places.enter(ALICE)).toThrow(TooMany);
  });

  test('answers without an end give way last, those of who has most, and nobody loses the only one', () => {
    const places = given(2_048, 512);
    const clients = Array.from({ length: 14 }, (_, index) => `198.51.100.${index}`);
    const hold = (client: string): Place => {
      const place = places.enter(client);
      place.send(() => false);
      return place;
    };
    const held = clients.map((client) => {
      const own: Place[] = [];
      for (let taken = 0; taken < 512; taken++) attemptAny(() => own.push(hold(client)));
      return own;
    });
    expect(places.inUse()).toBe(2_048);
    expect(() => places.enter(ALICE)).toThrow(NoPlace);
    vi.advanceTimersByTime(31_000);
    const alices = [hold(ALICE), hold(ALICE)];
    expect(held.flat().filter(({ signal }) => signal.reason instanceof BrokenAnswer)).toHaveLength(2);
    expect(
      held
        .filter((own) => own.length === 512)
        .flat()
        .filter(({ signal }) => signal.aborted),
    ).toHaveLength(2);
    vi.advanceTimersByTime(31_000);
    hold(BOB);
    expect(alices.map(({ signal }) => signal.aborted)).toEqual([false, false]);
    const few = given(2, 2);
    for (const client of [ALICE, BOB]) few.enter(client).send(() => false);
    vi.advanceTimersByTime(31_000);
    expect(() => few.enter(CAROL)).toThrow(NoPlace);
  });

  test('nobody who has less makes room for who has more', () => {
    const places = given(8, 4);
    for (let i = 0; i < 3; i++) places.enter(BOB);
    const alices = upload(places, ALICE);
    const carols = [places.enter(CAROL), places.enter(CAROL)];
    expect(() => places.enter(CAROL)).toThrow(TooMany);
    expect([alices, ...carols].filter(isTaken)).toEqual([]);
  });

  test('with all places in use, there is none until one is left', () => {
    const places = given(2, 2);
    const [one] = [places.enter(ALICE), places.enter(BOB)];
    expect(() => places.enter(CAROL)).toThrow(NoPlace);
    one.leave();
    one.leave();
    places.enter(CAROL);
    expect(places.inUse()).toBe(2);
  });

  test('a place that is left makes room for one more of its client, and no others', () => {
    const places = given();
    const [first] = [places.enter(ALICE), places.enter(ALICE), places.enter(ALICE)];
    first.leave();
    places.enter(ALICE);
    first.leave();
    expect(() => places.enter(ALICE)).toThrow(TooMany);
    expect(places.inUse()).toBe(3);
  });

  test('who makes room for itself takes nothing from others', () => {
    const places = given(5, 2);
    const alices = [upload(places, ALICE), upload(places, ALICE)];
    const bobs = [upload(places, BOB), upload(places, BOB)];
    upload(places, ALICE);
    expect([alices.filter(isTaken).length, bobs.filter(isTaken).length]).toEqual([1, 0]);
    expect(places.inUse()).toBe(4);
  });

  test('who has just come has time to begin: the one that was slow for long gives way before', () => {
    const places = given(8, 2);
    vi.advanceTimersByTime(3_000);
    const slow = upload(places, ALICE);
    pass(10, slow, 1_000);
    const fresh = upload(places, ALICE);
    expect([slow, fresh, upload(places, ALICE)].map(isTaken)).toEqual([true, false, false]);
  });

  test('the slowest upload of all keeps its place when its client has fewer than another', () => {
    const places = given(3);
    const alices = [upload(places, ALICE), upload(places, ALICE)];
    const bobs = upload(places, BOB);
    for (let second = 0; second < 5; second++) {
      vi.advanceTimersByTime(1_000);
      for (const place of alices) place.flowed(50_000);
    }
    places.enter(CAROL);
    expect([isTaken(bobs), alices.filter(isTaken).length]).toEqual([false, 1]);
  });

  /** A request that waits for its origin from now on. */
  const wait = (places: ReturnType<typeof given>, client: string): Place => {
    const place = places.enter(client);
    place.wait();
    return place;
  };
  const isOverdue = ({ signal }: Place): boolean => signal.reason instanceof BrokenAnswer;

  test('an origin has half a minute, to the moment, whenever that begins', () => {
    const places = given(2, 2);
    vi.advanceTimersByTime(100_000);
    const waiting = [wait(places, BOB), wait(places, CAROL)];
    vi.advanceTimersByTime(29_999);
    expect(() => places.enter(ALICE)).toThrow(NoPlace);
    vi.advanceTimersByTime(1);
    places.enter(ALICE);
    expect(waiting.filter(isOverdue)).toHaveLength(1);
  });

  test('of those whose origin had its time the longest gives way, of the client that has most', () => {
    const places = given(5, 3);
    const [first, second] = [places.enter(BOB), places.enter(BOB)];
    const carols = wait(places, CAROL);
    vi.advanceTimersByTime(1_000);
    second.wait();
    vi.advanceTimersByTime(1_000);
    first.wait();
    const others = [wait(places, '198.51.100.1'), wait(places, '198.51.100.2')];
    vi.advanceTimersByTime(40_000);
    places.enter(ALICE);
    expect([first, second, carols, ...others].map(isOverdue)).toEqual([false, true, false, false, false]);
  });

  test('nor does who comes later count for less when more of its client wait', () => {
    const places = given(4, 2);
    const carols = wait(places, CAROL);
    vi.advanceTimersByTime(1_000);
    const bobs = [wait(places, BOB), wait(places, BOB)];
    places.enter('198.51.100.1');
    vi.advanceTimersByTime(40_000);
    places.enter(ALICE);
    expect([carols, ...bobs].map(isOverdue)).toEqual([false, true, false]);
  });

  test('an answer has its time from where it begins, however long its origin took', () => {
    const places = given(4, 2);
    const bobs = [wait(places, BOB), wait(places, BOB)];
    for (const client of [CAROL, '198.51.100.1']) wait(places, client);
    vi.advanceTimersByTime(29_000);
    for (const place of bobs) place.send(() => false);
    vi.advanceTimersByTime(29_999);
    places.enter(ALICE);
    // Who waits for an origin by then gives way, and no answer.
    expect(bobs.map(isOverdue)).toEqual([false, false]);
  });

  test('clients that have left are forgotten', () => {
    const places = given();
    collectAll();
    const before = process.memoryUsage().heapUsed;
    for (let client = 0; client < 100_000; client++) places.enter(`client ${client}`).leave();
    collectAll();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
    places.stop();
  });
});
