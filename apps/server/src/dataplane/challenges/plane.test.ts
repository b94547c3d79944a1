import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { adminSocket, proxyDirectory } from '@sallyport/deployment/places';
import { type ChallengeAnswer, dataPlaneFiles } from '@sallyport/haproxy';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { holdOneMap, type OneMap } from '../../../../../test/support/haproxy/one-map.ts';
import { withTemporaryDirectory } from '../../../../../test/support/temporary-directory.ts';
import { createChallengePlane, renderChallenges } from './plane.ts';

const answerFor = (token: string): ChallengeAnswer => ({ token, keyAuthorization: `${token}.thumb-print_9` });
const lineOf = (token: string) => `/.well-known/acme-challenge/${token} ${token}.thumb-print_9`;
const bad = { token: '../..', keyAuthorization: '<script>' };

const withDirectory = (
  work: (given: {
    dataDir: string;
    /** Lines of the file that HAProxy starts from. */
    file: () => string[];
    /** Listens in HAProxy's place, for as long as this works: holds one map, which is replaced, and asked. */
    startHaproxy: () => Promise<OneMap>;
    logged: string[];
    log: pino.Logger;
  }) => Promise<void>,
): Promise<void> =>
  withTemporaryDirectory(async (dataDir) => {
    const path = join(proxyDirectory(dataDir), dataPlaneFiles.challengesMap);
    const logged: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => logged.push(JSON.parse(line).msg) });
    const running: OneMap[] = [];
    mkdirSync(dirname(adminSocket(dataDir)), { recursive: true });
    try {
      await work({
        dataDir,
        file: () =>
          readFileSync(path, 'utf8')
            .split('\n')
            .filter((line) => line !== '' && !line.startsWith('#')),
        async startHaproxy() {
          const haproxy = await holdOneMap(adminSocket(dataDir));
          running.push(haproxy);
          return haproxy;
        },
        logged,
        log,
      });
    } finally {
      for (const haproxy of running) await haproxy.stop().catch(() => {});
    }
  });

test('HAProxy starts with the answers that can be given; others are told, and keep none from it', () =>
  withDirectory(async ({ dataDir, file, logged, log }) => {
    await renderChallenges(dataDir, [answerFor('one'), bad, answerFor('two')], log);
    expect(file()).toEqual(['one', 'two'].map(lineOf));
    expect(logged).toEqual(['the store holds answers to challenges that cannot be given']);
    await renderChallenges(dataDir, [], log);
    expect(file()).toEqual([]);
    expect(logged).toHaveLength(1);
  }));

test('a file that cannot be written keeps HAProxy from no start, and is told', () =>
  withDirectory(async ({ dataDir, logged, log }) => {
    mkdirSync(join(proxyDirectory(dataDir), dataPlaneFiles.challengesMap), { recursive: true });
    await renderChallenges(dataDir, [answerFor('one')], log);
    expect(logged).toEqual(['answers to challenges are not there when HAProxy starts']);
  }));

test('HAProxy and its file hold what is stored, and it is told when they do not', () =>
  withDirectory(async ({ dataDir, file, startHaproxy, logged, log }) => {
    let stored = [answerFor('one')];
    const plane = createChallengePlane({ dataDir, stored: async () => stored, log });
    expect(plane.isBehind()).toBe(true);
    await expect(plane.sync()).rejects.toThrow('HAProxy did not answer');
    expect(plane.isBehind()).toBe(true);
    // What it starts from is written all the same.
    expect(file()).toEqual([lineOf('one')]);
    await expect(plane.gives(stored)).rejects.toThrow('HAProxy did not answer');

    const haproxy = await startHaproxy();
    await plane.sync();
    expect(plane.isBehind()).toBe(false);
    expect(haproxy.held()).toEqual([lineOf('one')]);
    stored = [answerFor('two'), answerFor('three')];
    expect(await plane.gives(stored)).toBe(false);
    await plane.sync();
    expect(haproxy.held()).toEqual(['two', 'three'].map(lineOf));
    expect(file()).toEqual(['two', 'three'].map(lineOf));
    expect(await plane.gives(stored)).toBe(true);
    expect(await plane.gives([])).toBe(true);
    expect(await plane.gives([answerFor('two'), answerFor('one')])).toBe(false);
    expect(await plane.gives([{ token: 'two', keyAuthorization: 'two.another-account' }])).toBe(false);

    // A full disk, or here a file in the way, is no reason not to answer.
    rmSync(join(proxyDirectory(dataDir), dataPlaneFiles.challengesMap));
    mkdirSync(join(proxyDirectory(dataDir), dataPlaneFiles.challengesMap));
    stored = [];
    await plane.sync();
    expect(haproxy.held()).toEqual([]);
    expect(logged).toEqual(['answers to challenges could not be written']);
    await haproxy.stop();
    await expect(plane.sync()).rejects.toThrow();
    expect(plane.isBehind()).toBe(true);
    await plane.stop();
  }));

test('what the store does not tell is not given up: what HAProxy holds stays, and somebody is to try again', () =>
  withDirectory(async ({ dataDir, startHaproxy, log }) => {
    let isThere = true;
    const stored = async () => {
      if (!isThere) throw new Error('the store is away');
      return [answerFor('one')];
    };
    const haproxy = await startHaproxy();
    const plane = createChallengePlane({ dataDir, stored, log });
    await plane.sync();
    isThere = false;
    await expect(plane.sync()).rejects.toThrow('the store is away');
    expect(plane.isBehind()).toBe(true);
    expect(haproxy.held()).toEqual([lineOf('one')]);
  }));
