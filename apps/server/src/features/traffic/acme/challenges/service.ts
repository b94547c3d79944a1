import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type ChallengeAnswer, isChallengeAnswer } from '@sallyport/haproxy';
import { listeningNodes, tellChallenges, tellChallengesHeld } from '@sallyport/store/database/challenge-notices';
import type { Database } from '@sallyport/store/database/open';
import type { Logger } from 'pino';
import { type ChallengePlane, createChallengePlane } from '../../../../dataplane/challenges/plane.ts';
import { repeat } from '../../../../dataplane/repeat.ts';
import { pruneRegularly } from '../../../prune-regularly.ts';
import { challengeStore } from './store.ts';
import { createTaken } from './taken.ts';

export interface ChallengeDeps {
  dataDir: string;
  database: Database;
  /** A UUID by which the other nodes know this one. */
  node: string;
  clock: () => Date;
  log: Logger;
}

/** An order withdraws its answers when it ends; this is for one whose server was lost in between. */
const TTL_MS = 3_600_000;
const TIMEOUT_MS = 10_000;
const RETRY_MS = 100;
/**
 * Another node takes an answer within milliseconds and says so. One that does not in this time hangs, or has no HAProxy: it must not
 * keep certificates of all others from being renewed.
 */
const OTHER_NODES_MS = 5_000;
const CATCH_UP_MS = 1_000;
const PRUNE_MS = 10 * 60_000;

/** What certificate authorities are answered (HTTP-01), by HAProxy on every node. */
export interface AcmeChallenges {
  /**
   * Has every node answer these from now on, for `ttlMs` (default an hour) unless they are withdrawn. Resolves when the proxy of this
   * node gives the answers, which it was asked for, and every other node says that its proxy does or had five seconds to. Rejects, with
   * nothing published, for a token or key authorization that is none, and when this proxy does not give them within `timeoutMs` (default
   * ten seconds).
   */
  publish(answers: readonly ChallengeAnswer[], options?: { ttlMs?: number; timeoutMs?: number }): Promise<void>;
  /** Has nobody answer these tokens any more. A proxy that can't be told at the moment is as soon as it can. */
  withdraw(tokens: readonly string[]): Promise<void>;
}

export const createChallenges = ({ dataDir, database, node, clock, log }: ChallengeDeps) => {
  const store = challengeStore(database.kysely);
  const plane: ChallengePlane = createChallengePlane({
    dataDir,
    stored: () => store.live(clock().toISOString()),
    log,
  });
  const taken = createTaken();

  const catchUp = async (): Promise<void> => {
    await plane.sync().catch((err: unknown) => log.debug({ err }, 'answers to challenges wait for HAProxy'));
  };

  /** Tells everybody of a change that nobody waits for. */
  const spread = async (): Promise<void> => {
    await tellChallenges(database, randomUUID());
    await catchUp();
  };

  /** Resolves when this proxy gives the answers; rejects with why it did not until `deadline`. */
  const untilGiven = async (answers: readonly ChallengeAnswer[], deadline: number): Promise<void> => {
    for (;;) {
      let reason: unknown = new Error('it holds others');
      try {
        await plane.sync();
        if (await plane.gives(answers)) return;
      } catch (error) {
        reason = error;
      }
      if (performance.now() >= deadline) {
        throw new Error(`this proxy does not answer the challenge: ${(reason as Error).message}`, { cause: reason });
      }
      await delay(RETRY_MS);
    }
  };

  const removeQuietly = async (tokens: readonly string[]): Promise<void> => {
    try {
      await store.remove(tokens);
      await spread();
    } catch (err) {
      log.warn({ err }, 'answers to challenges stay until their time is over');
    }
  };

  const prune = async (): Promise<number> => {
    const removed = await store.removeExpired(clock().toISOString());
    if (removed > 0) await spread();
    return removed;
  };

  return {
    async publish(answers, { ttlMs = TTL_MS, timeoutMs = TIMEOUT_MS } = {}) {
      // Not said which: what is no token may be anything.
      if (!answers.every(isChallengeAnswer)) throw new Error('not an answer to a challenge');
      if (answers.length === 0) return;
      const deadline = performance.now() + timeoutMs;
      const now = clock();
      const change = randomUUID();
      const waiting = taken.begin(change);
      try {
        await store.put(answers, {
          created_at: now.toISOString(),
          expires_at: new Date(now.getTime() + ttlMs).toISOString(),
        });
        await tellChallenges(database, change);
        await untilGiven(answers, deadline);
        const late = await waiting.by(await listeningNodes(database, node), OTHER_NODES_MS);
        if (late.length > 0) log.warn({ nodes: late.length }, 'other nodes do not say that they answer a challenge');
      } catch (error) {
        await removeQuietly(answers.map(({ token }) => token));
        throw error;
      } finally {
        waiting.end();
      }
    },

    async withdraw(tokens) {
      if (tokens.length === 0) return;
      await store.remove(tokens);
      await spread();
    },

    /** To be told that another node changed what is stored; says so when it is in force here. */
    async changedElsewhere(change: string): Promise<void> {
      try {
        await plane.sync();
        await tellChallengesHeld(database, change, node);
      } catch (err) {
        log.debug({ err }, 'answers to challenges wait for HAProxy');
      }
    },

    /** To be told that another node holds what this one changed. */
    heldElsewhere: taken.note,

    /** Tells HAProxy everything anew: to be called when another process of it answers, or notices may have been missed. */
    replay: catchUp,

    /** Keeps HAProxy's answers those that are stored, until stopped. */
    start() {
      void catchUp();
      const jobs = [
        repeat('answers to challenges', CATCH_UP_MS, async () => (plane.isBehind() ? catchUp() : undefined), log),
        pruneRegularly({
          intervalMs: PRUNE_MS,
          prune,
          says: { removed: 'old answers to challenges removed', failed: 'removing old answers to challenges failed' },
          log,
        }),
      ];
      return {
        async stop(): Promise<void> {
          for (const job of jobs) await job.stop();
          await plane.stop();
        },
      };
    },
  } satisfies AcmeChallenges & Record<string, unknown>;
};
