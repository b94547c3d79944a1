import { expect, test } from 'vitest';
import { runInThread } from './in-thread.ts';

/** Runs this in a thread, where `job` is the job and `post` answers. */
const run = (body: string, more: { limitMs?: number; heapMb?: number; job?: unknown } = {}) => {
  const script = `import { parentPort, workerData as job } from 'node:worker_threads'; const post = (x) => parentPort.postMessage(x); ${body}`;
  return runInThread({
    ...{
      script: new URL(`data:text/javascript,${encodeURIComponent(script)}`),
      job: undefined,
      says: { subject: 'it', verb: 'read' },
    },
    ...{ limitMs: 60_000, heapMb: 64, ...more },
  });
};

test('a thread answers with what it makes of its job, once', async () => {
  expect(await run('post(job.a + 1); post(9);', { job: { a: 1 } })).toBe(2);
});

test('what takes too long, or all memory, is refused, and so is what ends without an answer', async () => {
  const late = { status: 400, message: 'it takes more than 0.05 seconds to read' };
  await expect(run('for (;;) {}', { limitMs: 50 })).rejects.toMatchObject(late);
  const large = { status: 400, message: 'it takes too much memory to read' };
  await expect(run('const all = []; for (;;) all.push([all.length]);', { heapMb: 8 })).rejects.toMatchObject(large);
  await expect(run('throw new Error("a fault");')).rejects.toThrow('a fault');
  await expect(run('')).rejects.toThrow('the thread ended without an answer');
});

test('what takes too long is ended', async () => {
  const turns = new BigInt64Array(new SharedArrayBuffer(8));
  await expect(run('for (;;) Atomics.add(job, 0, 1n);', { limitMs: 50, job: turns })).rejects.toThrow('0.05 seconds');
  let before = -1n;
  let same = 0;
  // On a busy machine one that goes on has no turn now and then.
  const timesTheSame = () => {
    const now = Atomics.load(turns, 0);
    same = now === before ? same + 1 : 0;
    before = now;
    return same;
  };
  await expect.poll(timesTheSame).toBe(20);
});
