import type { ConfigDocument } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';
import { runInThread } from '../in-thread.ts';
import { createTurns } from '../in-turn.ts';
import type { YamlJob, YamlOutcome } from './yaml-job.ts';

/** Ten megabytes take some seconds, on a busy machine more. */
const LIMIT_MS = 60_000;
const MAX_HEAP_MB = 1_024;

/** Makes what reads and writes YAML: one text at a time, in a thread, within bounds of time and memory. */
export const createYaml = () => {
  const inTurn = createTurns();
  const run = async (job: YamlJob): Promise<string> => {
    const outcome = await inTurn(() =>
      runInThread<YamlJob, YamlOutcome>({
        script: new URL('./yaml-thread.ts', import.meta.url),
        job,
        limitMs: LIMIT_MS,
        heapMb: MAX_HEAP_MB,
        says: { subject: 'the document', verb: 'read' },
      }),
    );
    if ('problem' in outcome) {
      const { problem, text } = outcome;
      const details = text === undefined ? {} : { details: `the line is ${text}` };
      throw refuse.invalid(`body is not valid YAML: ${problem}`, details);
    }
    return outcome.text;
  };
  return {
    /** Throws a 400 with line and column, and what stands there. */
    read: async (text: string): Promise<unknown> => JSON.parse(await run({ read: text })),
    write: (document: ConfigDocument): Promise<string> => run({ write: document }),
  };
};
export type Yaml = ReturnType<typeof createYaml>;
