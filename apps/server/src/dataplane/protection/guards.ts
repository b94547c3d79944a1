import { createConnection } from 'node:net';
import type { Config } from '@sallyport/deployment/config';
import { watchSilence } from '@sallyport/deployment/patience';
import { guardFiles } from '@sallyport/deployment/places';
import { APPLIED, type Applied, notApplied } from '@sallyport/enforcement/live-map';

/** Compiling rules takes a second or two on a small machine that is busy. */
const ANSWER_WITHIN_MS = 20_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

type Answer = { revision: number; diagnostics: readonly string[] };

/** Tells one guard that a configuration is on disk; undefined when that guard is not running. */
const tell = (path: string, revision: number): Promise<Answer | undefined> =>
  new Promise((resolve, reject) => {
    const socket = createConnection({ path }, () => socket.write(`${JSON.stringify({ revision })}\n`));
    let text = '';
    const watch = watchSilence(ANSWER_WITHIN_MS, () => socket.destroy(new Error('no answer in time')));
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      watch.heard();
      text += chunk;
      if (text.length > MAX_ANSWER_BYTES) socket.destroy(new Error('the answer does not end'));
      if (!text.includes('\n')) return;
      socket.destroy();
      try {
        resolve(JSON.parse(text) as Answer);
      } catch (error) {
        reject(error);
      }
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const isAway = error.code === 'ENOENT' || error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET';
      if (isAway) resolve(undefined);
      else reject(error);
    });
    // One that ends in the middle reads the newest configuration when it starts again.
    socket.once('close', () => {
      watch.stop();
      resolve(undefined);
    });
  });

/**
 * Tells all running guards that this revision is on disk; resolves applied when each of them serves it or a newer one.
 * A guard that is not running reads it when it starts. `isNeeded`: whether it matters that none runs.
 */
export const tellGuards = async (
  { dataDir, guards }: Pick<Config, 'dataDir' | 'guards'>,
  revision: number,
  isNeeded: boolean,
): Promise<Applied> => {
  const workers = Array.from({ length: guards }, (_, worker) => worker);
  const issues: string[] = [];
  let running = 0;
  await Promise.all(
    workers.map(async (worker) => {
      try {
        const answer = await tell(guardFiles(dataDir, worker).control, revision);
        if (!answer) return;
        running += 1;
        if (answer.revision >= revision) return;
        issues.push(`guard ${worker}: ${answer.diagnostics[0] ?? `serves revision ${answer.revision}`}`);
      } catch (error) {
        issues.push(`guard ${worker}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }),
  );
  if (issues.length > 0) return notApplied(issues.sort().join('; '));
  return running === 0 && isNeeded ? notApplied('no guard is running') : APPLIED;
};
