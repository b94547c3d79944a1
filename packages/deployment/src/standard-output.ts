import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

const STANDARD_OUTPUT = 1;

/** Characters that wait while whoever reads is slow; what comes on top of that is left out. */
const LONGEST_BACKLOG = 1_048_576;

/** A pipe that is full and must not be waited for is tried again after this. */
const RETRY_MS = 50;

/**
 * Our standard output, written to off the event loop, at exit at once. What it refuses is left out: a reader that has gone
 * (a closed terminal, the end of a pipe) or a full disk must neither end a proxy nor keep it from ending, nor fill its
 * memory. (pino's own destination tries for ever at exit, and keeps all that it could not write.)
 */
export const createStandardOutput = (): DestinationStream => {
  let waiting = '';
  let isWriting = false;

  const writeOn = (bytes: Buffer): void => {
    write(STANDARD_OUTPUT, bytes, (error, written) => {
      if (error?.code === 'EAGAIN') setTimeout(writeOn, RETRY_MS, bytes);
      else if (!error && written < bytes.length) writeOn(bytes.subarray(written));
      else next();
    });
  };

  const next = (): void => {
    isWriting = waiting !== '';
    if (!isWriting) return;
    const bytes = Buffer.from(waiting);
    waiting = '';
    writeOn(bytes);
  };

  process.on('exit', () => {
    try {
      for (let bytes = Buffer.from(waiting); bytes.length > 0; ) {
        bytes = bytes.subarray(writeSync(STANDARD_OUTPUT, bytes));
      }
    } catch {
      // Nobody reads it any more, or there is no room.
    }
  });

  return {
    write(line) {
      if (waiting.length + line.length > LONGEST_BACKLOG) return;
      waiting += line;
      if (!isWriting) next();
    },
  };
};
