import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from '@sallyport/deployment/config';
import { adminSocket } from '@sallyport/deployment/places';
import type { Database } from '@sallyport/store/database/open';
import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { holdOneMap } from '../../../../../../../test/support/haproxy/one-map.ts';
import { withTemporaryDirectory } from '../../../../../../../test/support/temporary-directory.ts';
import { listenForChallenges } from '../../../../testing/listen-for-challenges.ts';
import { emptyStore } from '../../../../testing/start-app.ts';
import { withStore, withTables } from '../../../../testing/with-store.ts';
import { createChallenges } from './service.ts';
import { challengeStore } from './store.ts';

const answerFor = (token: string) => ({ token, keyAuthorization: `${token}.thumb-print_9` });
const lineOf = (token: string) => `/.well-known/acme-challenge/${token} ${token}.thumb-print_9`;

/** Runs the service of a store, by a clock of its own; `haproxy` listens in HAProxy's place. */
const runService = (database: Database, dataDir: string) => {
  const path = adminSocket(dataDir);
  mkdirSync(dirname(path), { recursive: true });
  const node = randomUUID();
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const time = { aheadMs: 0 };
  const clock = () => new Date(Date.now() + time.aheadMs);
  const challenges = createChallenges({ dataDir, database, node, clock, log });
  return {
    ...{ challenges, node, lines, log, time, database },
    store: challengeStore(database.kysely),
    running: challenges.start(),
    async haproxy() {
      const listening = await holdOneMap(path);
      onTestFinished(() => listening.stop().catch(() => {}));
      return listening;
    },
  };
};
type Service = ReturnType<typeof runService>;

const withService = (work: (given: Service) => Promise<void>): Promise<void> =>
  withStore(async (database, dataDir) => {
    const service = runService(database, dataDir);
    try {
      await work(service);
    } finally {
      await service.running.stop();
    }
  });

/** One of several on a PostgreSQL. */
const withNode = (config: Config, work: (given: Service) => Promise<void>): Promise<void> =>
  withTables(config, (database) =>
    withTemporaryDirectory(async (dataDir) => {
      const service = runService(database, dataDir);
      const { challenges, node, log } = service;
      const listener = await listenForChallenges({ database, url: config.databaseUrl ?? '', node, challenges, log });
      try {
        await work(service);
      } finally {
        await listener.stop();
        await service.running.stop();
      }
    }),
  );

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
    const asked = listening.asked.length;
    await challenges.publish([]);
    await challenges.withdraw([]);
    expect(listening.asked.length).toBe(asked);
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

test('it is published when the other node says that it gives it, and withdrawn there as well, also when its time is over', () =>
  emptyStore('postgres', (config) =>
    withNode(config, (here) =>
      withNode(config, async (there) => {
        await here.haproxy();
        const other = await there.haproxy();
        await here.challenges.publish([answerFor('one')]);
        expect(other.held()).toEqual([lineOf('one')]);
        await here.challenges.withdraw(['one']);
        await expect.poll(() => other.held()).toEqual([]);

        await here.challenges.publish([answerFor('short')], { ttlMs: 60_000 });
        expect(other.held()).toEqual([lineOf('short')]);
        here.time.aheadMs = 61_000;
        const pruning = here.challenges.start();
        await expect.poll(() => other.held()).toEqual([]);
        await pruning.stop();
        expect(here.lines.join('')).not.toContain('other nodes do not say');
      }),
    ),
  ));

test('answers that the store does not let go are told', () =>
  withService(async ({ challenges, database, store, time, lines }) => {
    await sql`create trigger it_stays before delete on acme_challenges begin select raise(abort, 'it stays'); end`.execute(
      database.kysely,
    );
    await expect(challenges.publish([answerFor('one')], { timeoutMs: 1 })).rejects.toThrow(
      'this proxy does not answer the challenge',
    );
    expect(lines.join('')).toContain('answers to challenges stay until their time is over');
    expect(await store.live(new Date().toISOString())).toEqual([answerFor('one')]);
    time.aheadMs = 2 * 3_600_000;
    const pruning = challenges.start();
    await expect.poll(() => lines.join('')).toContain('removing old answers to challenges failed');
    await pruning.stop();
  }));
