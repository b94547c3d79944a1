import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { eventually } from '../../../../test/support/eventually.ts';
import { repeat } from './repeat.ts';

const givenLog = () => {
  const lines: { msg: string; name: string; err: { message: string } }[] = [];
  return { lines, log: pino({ base: {} }, { write: (line: string) => void lines.push(JSON.parse(line)) }) };
};

/** Resolves when others of the same pause have had their turn several times. */
const turnsOfOthers = async (): Promise<void> => {
  let turns = 0;
  const others = repeat('others', 1, async () => void turns++, givenLog().log);
  await eventually(() => turns).toBeGreaterThanOrEqual(3);
  await others.stop();
};

test('work is done again and again, one turn at a time, also after a failure', async () => {
  const { lines, log } = givenLog();
  let turns = 0;
  let atOnce = 0;
  let most = 0;
  const work = async () => {
    turns += 1;
    atOnce += 1;
    most = Math.max(most, atOnce);
    await sleep(5);
    atOnce -= 1;
    if (turns === 2) throw new Error('the store is away');
  };
  const job = repeat('look', 1, work, log);
  await eventually(() => turns).toBeGreaterThanOrEqual(4);
  await job.stop();
  expect([most, atOnce]).toEqual([1, 0]);
  expect(lines).toMatchObject([{ msg: 'background work failed', name: 'look', err: { message: 'the store is away' } }]);
  const before = turns;
  await turnsOfOthers();
  expect(turns).toBe(before);
});

test('what fails in the same way turn after turn is told once, and again after it went well', async () => {
  const { lines, log } = givenLog();
  const failures = ['away', 'away', 'away', 'full', 'full', '', 'full', 'full'];
  let turns = 0;
  const work = async () => {
    const failure = failures[turns];
    turns += 1;
    if (failure) throw new Error(failure);
  };
  const job = repeat('look', 1, work, log);
  await eventually(() => turns).toBeGreaterThan(failures.length);
  await job.stop();
  expect(lines.map(({ err }) => err.message)).toEqual(['away', 'full', 'full']);
});

test('stopping waits for the turn that is under way, and no turn begins afterwards', async () => {
  const { log } = givenLog();
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  let turns = 0;
  const job = repeat(
    'look',
    1,
    () => {
      turns += 1;
      begun.resolve();
      return goOn.promise;
    },
    log,
  );
  await begun.promise;
  let isStopped = false;
  const stopped = job.stop().then(() => {
    isStopped = true;
  });
  await turnsOfOthers();
  expect(isStopped).toBe(false);
  goOn.resolve();
  await stopped;
  await turnsOfOthers();
  expect(turns).toBe(1);
});

test('what is stopped before its first turn never has one', async () => {
  const { log } = givenLog();
  let turns = 0;
  const job = repeat('look', 1, async () => void turns++, log);
  await job.stop();
  await turnsOfOthers();
  expect(turns).toBe(0);
});
