import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { adminSocket } from '@sallyport/deployment/places';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { holdOneMap } from '../../../../../../../test/support/haproxy/one-map.ts';
import { withStore } from '../../../../testing/with-store.ts';
import { createChallenges } from './service.ts';
import { challengeStore } from './store.ts';

const answerFor = (token: string) => ({ token, keyAuthorization: `${token}.thumb-print_9` });
const lineOf = (token: string) => `/.well-known/acme-challenge/${token} ${token}.thumb-print_9`;

/** Runs the service of a store; `haproxy` listens in HAProxy's place. */
const withService = (
  work: (given: {
    challenges: ReturnType<typeof createChallenges>;
    store: ReturnType<typeof challengeStore>;
    haproxy: () => ReturnType<typeof holdOneMap>;
  }) => Promise<void>,
): Promise<void> =>
  withStore(async (database, dataDir) => {
    const path = adminSocket(dataDir);
    mkdirSync(dirname(path), { recursive: true });
    const clock = () => new Date();
    const log = pino({ level: 'silent' });
    const challenges = createChallenges({ dataDir, database, node: randomUUID(), clock, log });
    const running = challenges.start();
    try {
      await work({
        challenges,
        store: challengeStore(database.kysely),
        async haproxy() {
          const listening = await holdOneMap(path);
          onTestFinished(() => listening.stop().catch(() => {}));
          return listening;
        },
      });
    } finally {
      await running.stop();
    }
  });

test('a HAProxy that could not be told what is withdrawn is told as soon as it answers, though nobody asks', () =>
  withService(async ({ challenges, store, haproxy }) => {
    const first = await haproxy();
    await challenges.publish(['one', 'two'].map(answerFor));
    expect(first.held()).toEqual(['one', 'two'].map(lineOf));
    await first.stop();
    // Nothing is thrown: what it starts from next is written.
    await challenges.withdraw(['one']);
    const [left] = await store.live(new Date().toISOString());
    expect(left).toEqual(answerFor('two'));
    const second = await haproxy();
    await expect.poll(() => second.held()).toEqual([lineOf('two')]);
    await challenges.withdraw(['two']);
    expect(second.held()).toEqual([]);
  }));

test('what this proxy does not give is not published, and its reason told', () =>
  withService(async ({ challenges, store }) => {
    await expect(challenges.publish([answerFor('one')], { timeoutMs: 1 })).rejects.toThrow(
      'this proxy does not answer the challenge',
    );
    await expect(challenges.publish([answerFor('two'), { token: '../x', keyAuthorization: 'y' }])).rejects.toThrow(
      'not an answer to a challenge',
    );
    expect(await store.live(new Date().toISOString())).toEqual([]);
  }));

test('answers are given for an hour, or for as long as is said, and nothing is none', () =>
  withService(async ({ challenges, store, haproxy }) => {
    const listening = await haproxy();
    const liveAfter = async (ms: number) =>
      (await store.live(new Date(Date.now() + ms).toISOString())).map(({ token }) => token);
    await challenges.publish([answerFor('hour')]);
    await challenges.publish([answerFor('short')], { ttlMs: 60_000 });
    expect((await liveAfter(0)).sort()).toEqual(['hour', 'short']);
    expect(await liveAfter(61_000)).toEqual(['hour']);
    expect(await liveAfter(59 * 60_000)).toEqual(['hour']);
    expect(await liveAfter(61 * 60_000)).toEqual([]);
    await challenges.publish([]);
    await challenges.withdraw([]);
    expect([...listening.held()].sort()).toEqual([lineOf('hour'), lineOf('short')]);
    await challenges.withdraw(['hour', 'short']);
  }));

test('what another node has published is given here as soon as that is told', () =>
  withService(async ({ challenges, store, haproxy }) => {
    const listening = await haproxy();
    const created_at = new Date().toISOString();
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    await store.put([answerFor('theirs')], { created_at, expires_at });
    await challenges.changedElsewhere(randomUUID());
    expect(listening.held()).toEqual([lineOf('theirs')]);
    await store.remove(['theirs']);
    await challenges.replay();
    expect(listening.held()).toEqual([]);
  }));
