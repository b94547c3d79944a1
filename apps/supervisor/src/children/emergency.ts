import { type Listen, localAddress } from '@sallyport/deployment/listen';
import type { ChildSpec } from '../child-spec.ts';
import { answersHttp } from './answers.ts';
import { programPath } from './program-path.ts';

/** The second tier of emergency recovery. `env` is its whole environment: it reads the settings that the server reads. */
export const emergencyChild = (bind: Listen, env: Readonly<Record<string, string>>): ChildSpec => ({
  name: 'emergency',
  argv: [process.execPath, programPath('emergency/src/main.ts')],
  env: { MALLOC_ARENA_MAX: '1', ...env },
  output: 'ours',
  stop: [{ signal: 'SIGTERM', waitMs: 1_000 }],
  isAlive: () => answersHttp(`http://${localAddress(bind)}/health`),
  // It stands still for a quarter of a second at most, while SQLite is locked.
  patience: { idleMs: 10_000, busyMs: 60_000, start: { idleMs: 60_000, busyMs: 5 * 60_000 } },
});
