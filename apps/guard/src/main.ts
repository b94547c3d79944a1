/** One guard process: judges requests for HAProxy. `--index` numbers the workers of a data directory, from 0. */
import { isAbsolute } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { collectAll } from '@sallyport/deployment/collect-all';
import { startWorker } from './worker.ts';

const say = (line: string): void => void process.stderr.write(`sallyport guard: ${line}\n`);

// What a request leaves behind dies with it. V8 may conclude otherwise from how the rules are prepared, and then puts a sixth of
// it where only a full collection finds it: 30 to 80 ms in the middle of traffic, every few seconds.
setFlagsFromString('--no-allocation-site-pretenuring');
// Little is new in this thread, and its heap is kept small (supervisor, children/guard.ts). The others have their own measure.
setFlagsFromString('--max-semi-space-size=0');

/** By then it has what it judges by. */
const STARTED_MS = 5_000;

const main = async (): Promise<void> => {
  // Everything this process creates is for its own user only.
  process.umask(0o077);
  const { values } = parseArgs({ options: { index: { type: 'string' }, 'data-dir': { type: 'string' } } });
  const index = Number(values.index);
  const dataDir = values['data-dir'] ?? '';
  if (!/^\d{1,3}$/.test(values.index ?? '')) throw new Error('--index must be a number from 0');
  if (!isAbsolute(dataDir)) throw new Error('--data-dir must be an absolute path');
  const worker = await startWorker({
    dataDir,
    index,
    onFailure(reason) {
      say(`worker ${index}: ${reason}`);
      // A thread that is stuck can't be asked to end.
      process.kill(process.pid, 'SIGKILL');
    },
  });
  // What the start leaves behind would stay for as long as little is asked of this thread.
  setTimeout(collectAll, STARTED_MS).unref();
  const stop = (): void =>
    void worker.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        say(String(error));
        process.exit(1);
      },
    );
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
};

main().catch((error: unknown) => {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exit(1);
});
