import { type Listen, localAddress } from '@sallyport/deployment/listen';
import type { ChildSpec } from '../child-spec.ts';
import { answersHttp } from './answers.ts';
import { programPath } from './program-path.ts';

/**
 * Room for what is new in the heap, MB: it grows to three times this and does not shrink. Measured: 2 keeps the server below
 * the 16 that Node would take, and collects no slower than that.
 */
const SEMI_SPACE = '--max-semi-space-size=2';

/** The management API, UI and reconciler. `env` is its whole environment, but for what keeps its memory small. */
export const serverChild = (httpBind: Listen, env: Readonly<Record<string, string>>): ChildSpec => ({
  name: 'server',
  argv: [process.execPath, programPath('server/src/main.ts')],
  env: { MALLOC_ARENA_MAX: '1', ...env, NODE_OPTIONS: `${SEMI_SPACE} ${env.NODE_OPTIONS ?? ''}`.trim() },
  // Its log goes on when the supervisor is killed; a pipe would break.
  output: 'ours',
  stop: [{ signal: 'SIGTERM', waitMs: 2_000 }],
  isAlive: () => answersHttp(`http://${localAddress(httpBind)}/api/v1/health`),
  // It stands still while SQLite is locked by a command of the CLI (10 s for each change that waits), and while it reads
  // a million hosts. What it brings the store up to date with may take long, and waits for other nodes.
  patience: {
    idleMs: 60_000,
    busyMs: 10 * 60_000,
    start: { idleMs: 15 * 60_000, busyMs: 60 * 60_000 },
  },
});
