import { Worker } from 'node:worker_threads';
import { refuse } from '@sallyport/store/errors';

export interface ThreadedWork<Job> {
  /** Posts one message: the result for its `workerData`. */
  script: URL;
  job: Job;
  /** After that it is ended. */
  limitMs: number;
  heapMb: number;
  /** What it does, for who is told that it took too long, or too much memory: `content … to compile`. */
  says: { subject: string; verb: string };
}

/**
 * Runs work in a thread of its own: nothing else would be answered meanwhile, and what takes forever, or all memory, ends with the
 * thread. Throws a 400 for that, and what the thread throws.
 */
export const runInThread = <Job, Result>({ script, job, limitMs, heapMb, says }: ThreadedWork<Job>): Promise<Result> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(script, { workerData: job, resourceLimits: { maxOldGenerationSizeMb: heapMb } });
    const timer = setTimeout(() => {
      reject(refuse.invalid(`${says.subject} takes more than ${limitMs / 1_000} seconds to ${says.verb}`));
      void worker.terminate();
    }, limitMs);
    worker.once('message', resolve);
    worker.once('error', (error: Error & { code?: string }) => {
      const isTooLarge = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      reject(isTooLarge ? refuse.invalid(`${says.subject} takes too much memory to ${says.verb}`) : error);
    });
    worker.once('exit', () => {
      clearTimeout(timer);
      reject(new Error('the thread ended without an answer'));
    });
  });
