import type { ChallengeAnswer } from '@sallyport/haproxy';
import { listeningNodes } from '@sallyport/store/database/challenge-notices';
import { describe, expect, test } from 'vitest';
import { until } from '../../../../../../../test/support/until.ts';
import { type DatabaseKind, emptyStore } from '../../../../testing/start-app.ts';
import { type ChallengeNode, startChallengeNode } from '../../../../testing/start-challenge-node.ts';

const LONG_MS = 30_000;

const answerFor = (token: string): ChallengeAnswer => ({ token, keyAuthorization: `${token}.thumb-print_9` });

const withNode = (
  kind: DatabaseKind,
  work: (node: ChallengeNode) => Promise<void>,
  clock?: () => Date,
): Promise<void> =>
  emptyStore(kind, async (config) => {
    const node = await startChallengeNode(config, clock);
    try {
      await work(node);
    } finally {
      await node.endServer();
      await node.proxy.stop();
    }
  });

const stored = async ({ database }: ChallengeNode): Promise<string[]> =>
  (await database.kysely.selectFrom('acme_challenges').select('token').orderBy('token').execute()).map(
    ({ token }) => token,
  );

describe.each<DatabaseKind>(['sqlite', 'postgres'])('answers to challenges on %s', (kind) => {
  test('are given when publishing resolves, until they are withdrawn; and what HAProxy starts with has them', () =>
    withNode(kind, async (node) => {
      const [one, two, three] = ['one', 'two', 'three'].map(answerFor) as [
        ChallengeAnswer,
        ChallengeAnswer,
        ChallengeAnswer,
      ];
      await node.challenges.publish([one, two]);
      expect(await node.answers('one')).toBe(one.keyAuthorization);
      // At the same time, and one of them once more for another account.
      const again = { token: 'one', keyAuthorization: 'one.other-account' };
      await Promise.all([node.challenges.publish([again]), node.challenges.publish([three])]);
      expect(await Promise.all(['one', 'two', 'three'].map(node.answers))).toEqual([
        again.keyAuthorization,
        two.keyAuthorization,
        three.keyAuthorization,
      ]);
      await node.challenges.withdraw(['one', 'nobody-knows']);
      expect(await Promise.all(['one', 'two', 'three'].map(node.answers))).toEqual([
        404,
        two.keyAuthorization,
        three.keyAuthorization,
      ]);
      await node.proxy.goAway();
      await node.proxy.comeBack();
      expect(await node.answers('two')).toBe(two.keyAuthorization);
      expect(await node.answers('one')).toBe(404);
    }));

  test('many at once are given, each', () =>
    withNode(kind, async (node) => {
      const tokens = Array.from({ length: 300 }, (_, index) => `token-${index}`);
      await Promise.all(tokens.map((token) => node.challenges.publish([answerFor(token)], { timeoutMs: LONG_MS })));
      for (const token of tokens) expect(await node.answers(token)).toBe(answerFor(token).keyAuthorization);
      await Promise.all(tokens.map((token) => node.challenges.withdraw([token])));
      expect(await node.answers('token-7')).toBe(404);
      expect(await stored(node)).toEqual([]);
    }));
});

test('what is no answer is refused before anything is stored, and one that got into the store keeps no other from being given', () =>
  withNode('sqlite', async (node) => {
    const bad = { token: 'bad', keyAuthorization: 'bad.x\n/ anything' };
    await expect(node.challenges.publish([answerFor('good'), bad])).rejects.toThrow('not an answer to a challenge');
    expect(await stored(node)).toEqual([]);
    const times = { created_at: new Date().toISOString(), expires_at: '2999-01-01T00:00:00.000Z' };
    await node.database.kysely
      .insertInto('acme_challenges')
      .values({ token: '../..', key_authorization: '<script>', ...times })
      .execute();
    await node.challenges.publish([answerFor('good')]);
    expect(await node.answers('good')).toBe('good.thumb-print_9');
    expect(node.file()).not.toContain('script');
  }));

test('without HAProxy publishing says so and leaves nothing; one that comes back gives what is stored', () =>
  withNode('sqlite', async (node) => {
    await node.challenges.publish([answerFor('before')]);
    await node.proxy.goAway();
    await expect(node.challenges.publish([answerFor('vain')], { timeoutMs: 200 })).rejects.toThrow(
      'this proxy does not answer the challenge',
    );
    expect(await stored(node)).toEqual(['before']);
    const patient = node.challenges.publish([answerFor('patient')], { timeoutMs: LONG_MS });
    await node.proxy.comeBack();
    await patient;
    expect(await Promise.all(['before', 'vain', 'patient'].map(node.answers))).toEqual([
      'before.thumb-print_9',
      404,
      'patient.thumb-print_9',
    ]);
  }));

test('one whose time is over is given no more, and removed', async () => {
  let now = Date.now();
  await withNode(
    'sqlite',
    async (node) => {
      await node.challenges.publish([answerFor('short')], { ttlMs: 60_000 });
      now += 61_000;
      await node.challenges.publish([answerFor('next')]);
      expect(await node.answers('short')).toBe(404);
      const later = node.challenges.start();
      await until('it was removed', async () => (await stored(node)).length === 1);
      await later.stop();
      expect(await stored(node)).toEqual(['next']);
    },
    () => new Date(now),
  );
});

test('on one PostgreSQL the other node gives an answer when publishing resolves, and none that was withdrawn', () =>
  emptyStore('postgres', (config) =>
    emptyStore('sqlite', async ({ dataDir }) => {
      const here = await startChallengeNode(config);
      const there = await startChallengeNode({ ...config, dataDir });
      let isThereUp = true;
      try {
        expect(await listeningNodes(here.database, here.node)).toEqual([there.node]);
        expect(await listeningNodes(there.database, there.node)).toEqual([here.node]);
        for (const token of ['first', 'second', 'third']) {
          await here.challenges.publish([answerFor(token)]);
          expect(await there.answers(token)).toBe(answerFor(token).keyAuthorization);
        }
        await here.challenges.withdraw(['first']);
        await until('it is withdrawn there', async () => (await there.answers('first')) === 404);
        await there.challenges.publish([answerFor('back')]);
        expect(await here.answers('back')).toBe('back.thumb-print_9');

        // Whose server is gone is not waited for; its HAProxy gives what it had.
        await there.endServer();
        isThereUp = false;
        await until('it is not listed', async () => (await listeningNodes(here.database, here.node)).length === 0);
        await here.challenges.publish([answerFor('alone')]);
        expect(await here.answers('alone')).toBe('alone.thumb-print_9');
        expect(await there.answers('second')).toBe('second.thumb-print_9');
      } finally {
        if (isThereUp) await there.endServer();
        await there.proxy.stop();
        await here.endServer();
        await here.proxy.stop();
      }
    }),
  ));
