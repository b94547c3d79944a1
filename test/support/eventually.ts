import { expect } from 'vitest';

/** Asks again and again until the expectation holds; the limit is for machines that are busy with something else. */
export const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 45_000, interval: 20 });
