import type { GuardConfig } from '@sallyport/contract';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Adoption, RunningThread, Word } from '../threads/run-thread.ts';
import { Busy, createLanes, type Lanes, type RequestQuestion, type Spoken } from './lanes.ts';

const SHORT = 16_384;
const MEDIUM = 65_536;
const HEAVY = 1_048_577;

let lastId = 0;
const bodyOf = (bytes: number, parts: { isExchange?: boolean; headers?: string[] } = {}): RequestQuestion => ({
  type: 'request',
  id: ++lastId,
  request: { reference: 'a', hostId: 1, addresses: [], method: 'POST', uri: '/', headers: parts.headers ?? [] },
  body: { bytes, file: undefined, blocks: [] },
  isExchange: parts.isExchange ?? false,
});

/** A thread that answers when the test says so: what is tried is who is asked when, not what is said. */
const createThread = () => {
  const asked: PromiseWithResolvers<Word>[] = [];
  const started = Promise.withResolvers<Adoption>();
  const exited = Promise.withResolvers<void>();
  const lingers: number[] = [];
  let adoption: string[] = [];
  const running: RunningThread = {
    listening: Promise.resolve(),
    started: started.promise,
    exited: exited.promise,
    async adopt({ revision }) {
      return { revision, diagnostics: adoption };
    },
    ask() {
      const word = Promise.withResolvers<Word>();
      asked.push(word);
      return word.promise;
    },
    end() {},
    beats: () => 0,
    async retire(lingerMs) {
      lingers.push(lingerMs);
      if (lingerMs === 0) exited.resolve();
    },
    kill() {},
  };
  return {
    running,
    asked,
    lingers,
    ready: (...diagnostics: string[]) => started.resolve({ revision: 1, diagnostics }),
    answer: (isOpen = false) => asked.at(-1)?.resolve({ judgement: { action: 'pass' }, isOpen }),
    fail: () => asked.at(-1)?.reject(new Error('no word')),
    exit: () => exited.resolve(),
    refuse: (reason: string) => {
      adoption = [reason];
    },
  };
};

describe('lanes', () => {
  let judge: ReturnType<typeof createThread>;
  let opened: ReturnType<typeof createThread>[];
  let hasRules: boolean;
  let lanes: Lanes;

  beforeEach(() => {
    vi.useFakeTimers();
    judge = createThread();
    opened = [];
    hasRules = true;
    lanes = createLanes({
      judge: () => (hasRules ? judge.running : undefined),
      start() {
        const thread = createThread();
        opened.push(thread);
        return thread.running;
      },
      now: () => performance.now(),
    });
  });
  afterEach(async () => {
    await lanes.stop();
    vi.useRealTimers();
  });

  const settle = () => vi.advanceTimersByTimeAsync(0);
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  /** Where a question went, or why nowhere. */
  const put = (client: string, question: RequestQuestion) => {
    const state: { spoken?: Spoken; error?: unknown } = {};
    void lanes.judge(client, question).then(
      (spoken) => {
        state.spoken = spoken;
      },
      (error: unknown) => {
        state.error = error;
      },
    );
    return state;
  };
  /** The first lane, with its rules prepared. */
  const readyLane = async () => {
    lanes.expect(MEDIUM + 1);
    const [lane] = opened;
    lane?.ready();
    await settle();
    if (!lane) throw new Error('no lane was opened');
    return lane;
  };

  test('short bodies go to the thread that answers HAProxy, longer ones one at a time while there is no lane', async () => {
    put('a', bodyOf(SHORT));
    put('a', bodyOf(SHORT));
    expect(judge.asked).toHaveLength(2);
    put('a', bodyOf(MEDIUM));
    expect([judge.asked.length, opened.length]).toEqual([3, 0]);
    put('a', bodyOf(MEDIUM));
    put('a', bodyOf(SHORT));
    expect([judge.asked.length, opened.length]).toEqual([4, 1]);
    opened[0]?.ready();
    await settle();
    expect(opened[0]?.asked).toHaveLength(1);
    put('b', bodyOf(SHORT + 1));
    expect(judge.asked).toHaveLength(4);
  });

  test('the next body of some length may go there once the first is judged, or could not be', async () => {
    for (const end of [judge.answer, judge.fail]) {
      put('a', bodyOf(SHORT + 1));
      end();
      await settle();
    }
    put('a', bodyOf(SHORT + 1));
    expect([judge.asked.length, opened.length]).toEqual([3, 0]);
  });

  test('longer ones never go there, nor those whose answer is inspected', async () => {
    put('a', bodyOf(MEDIUM + 1));
    put('b', bodyOf(SHORT + 1, { isExchange: true }));
    expect([judge.asked.length, opened.length]).toEqual([0, 1]);
    put('c', bodyOf(SHORT, { isExchange: true }));
    expect([judge.asked.length, opened.length]).toEqual([0, 2]);
    expect(opened.map(({ asked }) => asked.length)).toEqual([0, 1]);
  });

  test('without rules nothing is judged, however long', async () => {
    hasRules = false;
    const states = [put('a', bodyOf(1)), put('a', bodyOf(MEDIUM)), put('a', bodyOf(HEAVY))];
    await settle();
    for (const { error } of states) expect(String(error)).toContain('no rules');
  });

  test('a lane is opened for a long body that is about to come, once', () => {
    lanes.expect(MEDIUM);
    expect(opened).toHaveLength(0);
    lanes.expect(MEDIUM + 1);
    lanes.expect(HEAVY);
    expect(opened).toHaveLength(1);
  });

  test('a second one is opened for who has waited a quarter of a second, and no third', async () => {
    const lane = await readyLane();
    for (const client of ['a', 'b', 'c', 'd']) put(client, bodyOf(MEDIUM + 1));
    await pass(249);
    expect(opened).toHaveLength(1);
    await pass(1);
    expect(opened).toHaveLength(2);
    opened[1]?.ready();
    await pass(1_000);
    expect(opened).toHaveLength(2);
    expect([lane, opened[1]].map((one) => one?.asked.length)).toEqual([1, 1]);
    lane.answer();
    await settle();
    expect(lane.asked).toHaveLength(2);
  });

  test('none is opened when nobody waits any more', async () => {
    const lane = await readyLane();
    put('a', bodyOf(MEDIUM + 1));
    put('b', bodyOf(MEDIUM + 1));
    await pass(200);
    lane.answer();
    await pass(1_000);
    expect(opened).toHaveLength(1);
  });

  test('the longest never have all lanes, compressed ones among them', async () => {
    const lane = await readyLane();
    put('a', bodyOf(HEAVY));
    put('b', bodyOf(HEAVY));
    put('c', bodyOf(10, { headers: ['Host', 'a.example', 'Content-Encoding', 'gzip'] }));
    await pass(250);
    opened[1]?.ready();
    await settle();
    expect([lane, opened[1]].map((one) => one?.asked.length)).toEqual([1, 0]);
    expect(judge.asked).toEqual([]);
    put('d', bodyOf(HEAVY - 1));
    expect(opened[1]?.asked).toHaveLength(1);
    opened[1]?.answer();
    await settle();
    expect(opened[1]?.asked).toHaveLength(1);
    lane.answer();
    await settle();
    expect(lane.asked).toHaveLength(2);
  });

  test('only a header of that name makes a body one that may be longer than it is', () => {
    put('a', bodyOf(10, { headers: ['Content-Type', 'content-encoding'] }));
    put('a', bodyOf(0, { headers: ['Content-Encoding', 'gzip'] }));
    expect([judge.asked.length, opened.length]).toEqual([2, 0]);
  });

  test('64 bodies of one client may wait, and those of others besides', async () => {
    const lane = await readyLane();
    put('a', bodyOf(MEDIUM + 1));
    const waiting = Array.from({ length: 64 }, () => put('a', bodyOf(MEDIUM + 1)));
    const [tooMany, other] = [put('a', bodyOf(MEDIUM + 1)), put('b', bodyOf(MEDIUM + 1))];
    await settle();
    expect(tooMany.error).toBeInstanceOf(Busy);
    expect([other, ...waiting].filter(({ error }) => error !== undefined)).toEqual([]);
    lane.answer();
    await settle();
    expect(put('a', bodyOf(MEDIUM + 1)).error).toBeUndefined();
  });

  test('who waits for two minutes is told so, and is not judged any more', async () => {
    const lane = await readyLane();
    const judged = put('a', bodyOf(MEDIUM + 1));
    const waiting = put('b', bodyOf(HEAVY));
    await pass(119_999);
    expect(waiting.error).toBeUndefined();
    await pass(1);
    expect(waiting.error).toBeInstanceOf(Busy);
    // What is being judged by then takes as long as it takes.
    lane.answer();
    await settle();
    expect(judged.spoken?.thread).toBe(lane.running);
    expect(lane.asked).toHaveLength(1);
  });

  test('what one could not judge is told, and the next is judged', async () => {
    const lane = await readyLane();
    const [first, second] = [put('a', bodyOf(HEAVY)), put('a', bodyOf(HEAVY))];
    lane.fail();
    await settle();
    expect(String(first.error)).toContain('no word');
    lane.answer();
    await settle();
    expect(second.spoken?.thread).toBe(lane.running);
  });

  test('when one ends by itself, another is opened for who waits', async () => {
    const lane = await readyLane();
    put('a', bodyOf(HEAVY));
    const waiting = put('b', bodyOf(HEAVY));
    lane.exit();
    await settle();
    expect(opened).toHaveLength(2);
    opened[1]?.ready();
    await settle();
    opened[1]?.answer();
    await settle();
    expect(waiting.spoken?.thread).toBe(opened[1]?.running);
    expect(lanes.threads()).toEqual([opened[1]?.running]);
  });

  test('the one of exchanges that ended is opened anew', async () => {
    put('a', bodyOf(1, { isExchange: true }));
    put('a', bodyOf(1, { isExchange: true }));
    expect(opened.map(({ asked }) => asked.length)).toEqual([2]);
    opened[0]?.exit();
    await settle();
    put('a', bodyOf(1, { isExchange: true }));
    expect(opened.map(({ asked }) => asked.length)).toEqual([2, 1]);
  });

  test('they end after two minutes in which nobody needed them, with time for who knows their rules', async () => {
    const lane = await readyLane();
    await pass(121_000);
    put('a', bodyOf(MEDIUM + 1));
    expect(opened).toHaveLength(1);
    await pass(240_000);
    // It is at work.
    expect(lane.lingers).toEqual([]);
    lane.answer();
    await pass(119_000);
    expect(lane.lingers).toEqual([]);
    await pass(22_000);
    expect(lane.lingers).toEqual([60_000]);
    expect(lanes.threads()).toEqual([]);
  });

  test('not while an answer is waited for, whose request one of them has judged', async () => {
    put('a', bodyOf(1, { isExchange: true }));
    const [lane] = opened;
    lane?.answer(true);
    await pass(600_000);
    expect(lane?.lingers).toEqual([]);
    lanes.closed(judge.running);
    if (lane) lanes.closed(lane.running);
    await pass(119_000);
    expect(lane?.lingers).toEqual([]);
    await pass(22_000);
    expect(lane?.lingers).toEqual([60_000]);
  });

  test('those whose rules could not be prepared do not judge: the other goes on, and without one who waits is told', async () => {
    const first = put('a', bodyOf(HEAVY));
    opened[0]?.ready('no rules');
    await settle();
    expect(String(first.error)).toContain('could not be prepared');
    put('a', bodyOf(MEDIUM + 1));
    opened[1]?.ready();
    await settle();
    const waiting = put('b', bodyOf(MEDIUM + 1));
    await pass(250);
    opened[2]?.ready('no rules');
    await settle();
    expect(waiting.error).toBeUndefined();
    expect(lanes.threads()).toEqual([opened[1]?.running]);
  });

  test('with other rules all make room; with the same ones only who could not take the change', async () => {
    const config = { revision: 2 } as GuardConfig;
    const lane = await readyLane();
    put('a', bodyOf(1, { isExchange: true }));
    lane.refuse('not taken');
    lanes.adopt(config, true);
    await settle();
    expect(opened.map(({ lingers }) => lingers)).toEqual([[60_000], []]);
    lanes.adopt(config, false);
    await settle();
    expect(opened.map(({ lingers }) => lingers)).toEqual([[60_000], [60_000]]);
    expect(lanes.threads()).toEqual([]);
  });

  test('who waits for one that makes room is judged by the next', async () => {
    lanes.expect(HEAVY);
    const waiting = put('a', bodyOf(HEAVY));
    lanes.adopt({ revision: 2 } as GuardConfig, false);
    expect(opened).toHaveLength(2);
    opened[1]?.ready();
    await settle();
    opened[1]?.answer();
    await settle();
    expect(waiting.spoken?.thread).toBe(opened[1]?.running);
  });

  test('at the end all are told to end at once, and so is who waits', async () => {
    const lane = await readyLane();
    put('a', bodyOf(MEDIUM + 1));
    const waiting = put('b', bodyOf(MEDIUM + 1));
    put('c', bodyOf(1, { isExchange: true }));
    await lanes.stop();
    expect(String(waiting.error)).toContain('stopping');
    expect(opened.map(({ lingers }) => lingers)).toEqual([[0], [0]]);
    lane.answer();
    await pass(1_000);
    expect([lane.asked.length, opened.length]).toEqual([1, 2]);
  });
});
