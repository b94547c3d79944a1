import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

const NICENESS = 10;

/** Gives other threads and processes the processor first, this one what is left. On Linux each thread has its own priority. */
export const beNice = (): void => {
  const [, thread] = /\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? [];
  if (thread) setPriority(Number(thread), NICENESS);
};
