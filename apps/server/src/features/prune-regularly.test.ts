import { pino } from 'pino';
import { expect, test } from 'vitest';
import { pruneRegularly } from './prune-regularly.ts';

test('it prunes at once and again, one after the other, whatever fails; a stop waits for what is under way', async () => {
  const logged: unknown[] = [];
  const log = pino({}, { write: (line) => void logged.push(JSON.parse(line)) });
  let [turns, inside, most] = [0, 0, 0];
  const held = Promise.withResolvers<void>();
  const { stop } = pruneRegularly({
    intervalMs: 1,
    async prune() {
      turns += 1;
      inside += 1;
      most = Math.max(most, inside);
      if (turns === 4) await held.promise;
      inside -= 1;
      if (turns === 2) throw new Error('the store is away');
      return turns === 1 ? 3 : 0;
    },
    says: { removed: 'old ones removed', failed: 'removing failed' },
    log,
  });
  await expect.poll(() => turns).toBe(4);
  let isStopped = false;
  const stopped = stop().then(() => {
    isStopped = true;
  });
  await new Promise(setImmediate);
  expect(isStopped).toBe(false);
  held.resolve();
  await stopped;
  expect([most, inside]).toEqual([1, 0]);
  const turnsUntilStop = turns;
  let othersTurns = 0;
  const prune = async () => {
    othersTurns += 1;
    return 0;
  };
  const other = pruneRegularly({ intervalMs: 1, prune, says: { removed: '', failed: '' }, log });
  await expect.poll(() => othersTurns).toBeGreaterThan(10);
  await other.stop();
  expect(turns).toBe(turnsUntilStop);
  expect(logged).toMatchObject([
    { msg: 'old ones removed', removed: 3 },
    { msg: 'removing failed', err: { message: 'the store is away' } },
  ]);
});
