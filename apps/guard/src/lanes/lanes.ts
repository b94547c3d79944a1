import type { GuardConfig } from '@sallyport/contract';
import type { Question } from '../threads/protocol.ts';
import type { RunningThread, Word } from '../threads/run-thread.ts';
import { createFairQueue, type Job } from './fair-queue.ts';

/** Bodies up to this are judged by the thread that answers HAProxy: they take it no longer than what HAProxy sends itself. */
const SHORT_BYTES = 16_384;
/** A body up to this is judged there as well while there is no lane, one at a time: it is not worth one. */
const MEDIUM_BYTES = 65_536;
/** Bodies from this on may take seconds, so they never have all lanes. */
const HEAVY_BYTES = 1_048_576;
const MOST_LANES = 2;
/** A second lane is opened when somebody has waited this long for the first. */
const HELP_AFTER_MS = 250;
const IDLE_MS = 120_000;
/** Old rules stay for answers to requests that they have judged. */
const LINGER_MS = 60_000;
const WAIT_MS = 120_000;
/** Bodies of one client that may wait. */
const MOST_WAITING = 64;

/** The judges are not to be had in time. */
export class Busy extends Error {
  override name = 'Busy';
}

export type RequestQuestion = Extract<Question, { type: 'request' }>;

/** How much there may be to judge of a request's body: a few compressed bytes can hold megabytes. */
const weightOf = ({ request, body }: RequestQuestion): number =>
  body.bytes > 0 && request.headers.some((name, at) => at % 2 === 0 && name.toLowerCase() === 'content-encoding')
    ? Math.max(body.bytes, HEAVY_BYTES + 1)
    : body.bytes;

/** A word, and the thread that knows the rest of an open exchange. */
export type Spoken = Word & { thread: RunningThread };

interface Waiting extends Job {
  question: RequestQuestion;
  resolve(spoken: Spoken): void;
  reject(error: unknown): void;
  timer: NodeJS.Timeout;
}

/** A thread besides the one that answers HAProxy. */
interface Lane {
  thread: RunningThread;
  /** It takes jobs. */
  isReady: boolean;
  job: Waiting | undefined;
  /** Exchanges that wait for an origin's answer. */
  open: number;
  idleSince: number;
}

export interface LanesDeps {
  /** The thread that answers HAProxy by the rules in force; undefined while there are none. */
  judge: () => RunningThread | undefined;
  /** Starts a lane by the rules in force. */
  start: () => RunningThread;
  /** Monotonic, milliseconds. */
  now: () => number;
}

/**
 * Puts the relay's requests to threads: short ones to the thread that answers HAProxy, those whose answers are inspected to a lane
 * of their own, long bodies to one or two more, one at a time and fairly among clients. Lanes are there while they are needed.
 */
export const createLanes = ({ judge, start, now }: LanesDeps) => {
  const queue = createFairQueue<Waiting>(now);
  let bodyLanes: Lane[] = [];
  let exchangeLane: Lane | undefined;
  let help: NodeJS.Timeout | undefined;
  let isStopped = false;

  const all = (): Lane[] => (exchangeLane ? [...bodyLanes, exchangeLane] : bodyLanes);

  const drop = (lane: Lane): void => {
    bodyLanes = bodyLanes.filter((other) => other !== lane);
    if (exchangeLane === lane) exchangeLane = undefined;
  };

  const retire = (lane: Lane): void => {
    drop(lane);
    void lane.thread.retire(LINGER_MS);
  };

  const adoptIn = async (lane: Lane, config: GuardConfig): Promise<void> => {
    const { diagnostics } = await lane.thread.adopt(config);
    // It would go on judging by what was before.
    if (diagnostics.length > 0) retire(lane);
  };

  const isHeavy = ({ bytes }: Job): boolean => bytes > HEAVY_BYTES;

  const fits = (job: Waiting): boolean =>
    !isHeavy(job) || bodyLanes.filter((lane) => lane.job && isHeavy(lane.job)).length < MOST_LANES - 1;

  const speak = async (lane: Lane, question: RequestQuestion): Promise<Spoken> => {
    const word = await lane.thread.ask(question);
    if (word.isOpen) lane.open++;
    return { ...word, thread: lane.thread };
  };

  const run = async (lane: Lane, job: Waiting): Promise<void> => {
    lane.job = job;
    clearTimeout(job.timer);
    const startedAt = now();
    try {
      job.resolve(await speak(lane, job.question));
    } catch (error) {
      job.reject(error);
    }
    queue.charge(job.client, now() - startedAt);
    lane.job = undefined;
    lane.idleSince = now();
    dispatch();
  };

  const failAll = (reason: string): void => {
    for (const job of queue.all()) {
      queue.remove(job);
      clearTimeout(job.timer);
      job.reject(new Error(reason));
    }
  };

  const open = (): Lane => {
    const lane: Lane = { thread: start(), isReady: false, job: undefined, open: 0, idleSince: now() };
    void lane.thread.exited.then(() => {
      drop(lane);
      dispatch();
    });
    return lane;
  };

  const openBodyLane = (): void => {
    const lane = open();
    bodyLanes.push(lane);
    void lane.thread.started.then(({ diagnostics }) => {
      lane.isReady = diagnostics.length === 0;
      lane.idleSince = now();
      if (!lane.isReady) {
        drop(lane);
        if (bodyLanes.length === 0) failAll('the rules could not be prepared');
      }
      dispatch();
    });
  };

  const dispatch = (): void => {
    for (const lane of bodyLanes) {
      if (!lane.isReady || lane.job) continue;
      const job = queue.take(fits);
      if (job) void run(lane, job);
    }
    if (queue.isEmpty() || isStopped) return;
    if (bodyLanes.length === 0) openBodyLane();
    else if (bodyLanes.length < MOST_LANES) {
      help ??= setTimeout(() => {
        help = undefined;
        if (!queue.isEmpty() && bodyLanes.length > 0 && bodyLanes.length < MOST_LANES) openBodyLane();
      }, HELP_AFTER_MS);
    }
  };

  const judgeLong = (client: string, question: RequestQuestion): Promise<Spoken> =>
    new Promise((resolve, reject) => {
      if (queue.waitingOf(client) >= MOST_WAITING) throw new Busy('too many bodies of this client wait to be judged');
      const job: Waiting = {
        client,
        bytes: weightOf(question),
        question,
        resolve,
        reject,
        timer: setTimeout(() => {
          queue.remove(job);
          reject(new Busy('other bodies are judged first'));
        }, WAIT_MS),
      };
      queue.add(job);
      dispatch();
    });

  let isJudgingMedium = false;
  const judgeMedium = async (thread: RunningThread, question: RequestQuestion): Promise<Spoken> => {
    isJudgingMedium = true;
    try {
      return { ...(await thread.ask(question)), thread };
    } finally {
      isJudgingMedium = false;
    }
  };

  const idle = setInterval(() => {
    for (const lane of all()) {
      if (lane.isReady && !lane.job && lane.open === 0 && now() - lane.idleSince > IDLE_MS) retire(lane);
    }
  }, IDLE_MS / 6);

  const laneOf = (thread: RunningThread): Lane | undefined => all().find((lane) => lane.thread === thread);

  return {
    /** Opens a lane for a long body that is about to come, so that it does not wait for the rules to be prepared. */
    expect(bytes: number): void {
      if (bytes > MEDIUM_BYTES && bodyLanes.length === 0) openBodyLane();
    },

    /** Judges a request. Rejects with Busy, or when no thread could. */
    async judge(client: string, question: RequestQuestion): Promise<Spoken> {
      const bytes = weightOf(question);
      const isShort = bytes <= SHORT_BYTES;
      if (question.isExchange && isShort) {
        if (!exchangeLane) {
          exchangeLane = open();
          exchangeLane.isReady = true;
        }
        exchangeLane.idleSince = now();
        return speak(exchangeLane, question);
      }
      const thread = judge();
      if (!thread) throw new Error('there are no rules to judge by');
      const isMedium = !isShort && bytes <= MEDIUM_BYTES && !question.isExchange;
      if (isMedium && bodyLanes.length === 0 && !isJudgingMedium) return judgeMedium(thread, question);
      if (!isShort) return judgeLong(client, question);
      return { ...(await thread.ask(question)), thread };
    },

    /** An exchange is over. */
    closed(thread: RunningThread): void {
      const lane = laneOf(thread);
      if (!lane) return;
      lane.open--;
      lane.idleSince = now();
    },

    /**
     * Puts a configuration in force for all that is asked from here on; lanes with other rules make room for new ones. What is
     * being judged at the moment may take seconds, and no change waits for it.
     */
    adopt(config: GuardConfig, keepsRules: boolean): void {
      for (const lane of all()) {
        if (keepsRules) void adoptIn(lane, config);
        else retire(lane);
      }
      dispatch();
    },

    threads: (): RunningThread[] => all().map(({ thread }) => thread),

    async stop(): Promise<void> {
      clearInterval(idle);
      clearTimeout(help);
      isStopped = true;
      failAll('the guard is stopping');
      const threads = all().map(({ thread }) => thread);
      for (const thread of threads) void thread.retire(0);
      await Promise.all(threads.map(({ exited }) => exited));
    },
  };
};
export type Lanes = ReturnType<typeof createLanes>;
