import type { Reading, SourceFile } from '@sallyport/import';
import { Refusal } from '@sallyport/store/errors';
import { runInThread } from '../../in-thread.ts';
import { createTurns } from '../../in-turn.ts';
import type { ReadJob, ReadOutcome } from './read-job.ts';

/** Ten megabytes take a second or two, on a busy machine some more. */
const READ_MS = 30_000;
const MAX_HEAP_MB = 768;

/** What there is to say of files that could not be read at all. */
export const unreadable = (files: readonly SourceFile[], message: string): ReadOutcome => {
  const reading: Omit<Reading, 'source'> = {
    hosts: [],
    warnings: [],
    staticFiles: [],
    errors: [{ file: files[0]?.name ?? '', line: 1, column: 1, message }],
  };
  return { text: JSON.stringify(reading), source: null, hosts: 0, errors: 1, staticFiles: [] };
};

/** Makes the reader of uploaded files: one upload at a time, in a thread, within bounds of time and memory. */
export const createReader = () => {
  const inTurn = createTurns();
  return async (files: readonly SourceFile[]): Promise<ReadOutcome> => {
    try {
      return await inTurn(() =>
        runInThread<ReadJob, ReadOutcome>({
          script: new URL('./read-thread.ts', import.meta.url),
          job: { files },
          limitMs: READ_MS,
          heapMb: MAX_HEAP_MB,
          says: { subject: 'the upload', verb: 'read' },
        }),
      );
    } catch (error) {
      if (error instanceof Refusal) return unreadable(files, error.message);
      throw error;
    }
  };
};
export type ReadUpload = ReturnType<typeof createReader>;
