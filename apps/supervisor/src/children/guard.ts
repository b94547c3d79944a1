import { guardFiles } from '@sallyport/deployment/places';
import type { ChildSpec } from '../child-spec.ts';
import { answersLine } from './answers.ts';
import type { Layout } from './layout.ts';
import { programPath } from './program-path.ts';

/** Room for what is new in the heap of the main thread, MB; see `serverChild`. */
const SEMI_SPACE = '--max-semi-space-size=2';

/**
 * One of the workers that judge requests; HAProxy refuses what none of them has judged. `compileCache`: directory where
 * Node keeps compiled code, for a faster start.
 */
export const guardChild = ({ dataDir }: Pick<Layout, 'dataDir'>, index: number, compileCache?: string): ChildSpec => ({
  name: `guard-${index}`,
  argv: [
    process.execPath,
    SEMI_SPACE,
    programPath('guard/src/main.ts'),
    '--index',
    String(index),
    '--data-dir',
    dataDir,
  ],
  // Nothing from ours: it needs no setting and no secret.
  env: {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    MALLOC_ARENA_MAX: '2',
    ...(compileCache && { NODE_COMPILE_CACHE: compileCache }),
  },
  output: 'ours',
  // Requests in flight are judged to their end; HAProxy asks another guard meanwhile.
  stop: [{ signal: 'SIGTERM', waitMs: 1_500 }],
  // On its control socket, which it opens once it judges. Its own watchdog ends it when a thread of it is stuck; the
  // thread that answers here neither judges nor compiles. Before its first answer it loads the rules.
  isAlive: () => answersLine(guardFiles(dataDir, index).control, '{"stats":true}'),
  patience: { idleMs: 5_000, busyMs: 60_000, start: { idleMs: 15_000, busyMs: 5 * 60_000 } },
});
