import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { collectAll } from './collect-all.ts';

test('gives back what nobody holds any more, and leaves no way to collect behind', async () => {
  const forgotten = new WeakRef({ name: 'forgotten' });
  const held = { name: 'held' };
  const kept = new WeakRef(held);
  // A reference is held until the turn that made it is over.
  await turn();
  collectAll();
  expect(forgotten.deref()).toBeUndefined();
  expect(kept.deref()).toBe(held);
  expect(runInNewContext('typeof gc')).toBe('undefined');
});

test('threads that collect at once take it from one another no more than for a moment', async () => {
  // Each thread finds its way to collect once, so that many threads are many tries.
  const script = `
    import { collectAll } from ${JSON.stringify(new URL('./collect-all.ts', import.meta.url).href)};
    import { parentPort, workerData } from 'node:worker_threads';
    const gate = new Int32Array(workerData);
    Atomics.add(gate, 0, 1);
    while (Atomics.load(gate, 0) < 8);
    try { collectAll(); parentPort.postMessage('collected'); } catch (error) { parentPort.postMessage(String(error)); }
  `;
  for (let round = 0; round < 5; round++) {
    const gate = new SharedArrayBuffer(4);
    const answers = Array.from({ length: 8 }, async () => {
      const worker = new Worker(script, { eval: true, execArgv: ['--input-type=module'], workerData: gate });
      const [answer] = (await once(worker, 'message')) as [string];
      return answer;
    });
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 8 }, () => 'collected'));
  }
});
