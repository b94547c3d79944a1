import { type Listen, localAddress } from '@sallyport/server/net/listen';
import type { ChildSpec } from '../child-spec.ts';
import { programPath } from './program-path.ts';

const answerWithinMs = 1_000;

const answersHealth = async (bind: Listen): Promise<boolean> => {
  try {
    const response = await fetch(`http://${localAddress(bind)}/api/v1/health`, {
      signal: AbortSignal.timeout(answerWithinMs),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
};

/** The management API, UI and reconciler. `env` is its whole environment. */
export const serverChild = (httpBind: Listen, env: Readonly<Record<string, string>>): ChildSpec => ({
  name: 'server',
  argv: [process.execPath, programPath('server/src/main.ts')],
  env,
  // Its log goes on when the supervisor is killed; a pipe would break.
  output: 'ours',
  stop: [{ signal: 'SIGTERM', waitMs: 2_000 }],
  isReady: () => answersHealth(httpBind),
});
