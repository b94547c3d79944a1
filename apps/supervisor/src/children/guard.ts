import { connect } from 'node:net';
import { guardFiles } from '@sallyport/server/dataplane/enforcement-layout';
import type { ChildSpec } from '../child-spec.ts';
import type { Layout } from './layout.ts';
import { programPath } from './program-path.ts';

const answerWithinMs = 1_000;

/** Whether a guard answers on its control socket, which it opens once it judges. */
const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path, () => socket.write('{"stats":true}\n'));
    socket.setTimeout(answerWithinMs, () => socket.destroy());
    socket.once('data', () => {
      resolve(true);
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });

/**
 * One of the workers that judge requests; HAProxy refuses what none of them has judged. `compileCache`: directory where
 * Node keeps compiled code, for a faster start.
 */
export const guardChild = ({ dataDir }: Pick<Layout, 'dataDir'>, index: number, compileCache?: string): ChildSpec => ({
  name: `guard-${index}`,
  argv: [process.execPath, programPath('guard/src/main.ts'), '--index', String(index), '--data-dir', dataDir],
  // Nothing from ours: it needs no setting and no secret.
  env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...(compileCache && { NODE_COMPILE_CACHE: compileCache }) },
  output: 'ours',
  // Requests in flight are judged to their end; HAProxy asks another guard meanwhile.
  stop: [{ signal: 'SIGTERM', waitMs: 1_500 }],
  isReady: () => answers(guardFiles(dataDir, index).control),
});
