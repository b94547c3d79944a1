import { formatAddress, type Listen } from '@sallyport/server/net/listen';
import type { ChildSpec } from '../child-spec.ts';
import { programPath } from './program-path.ts';

const answerWithinMs = 1_000;

/** How a client on this machine reaches a listener: one on all addresses is reached through loopback. */
const localAddress = ({ host, port }: Listen): string => {
  if (host === '' || host === '0.0.0.0') return formatAddress('127.0.0.1', port);
  return formatAddress(host === '::' ? '::1' : host, port);
};

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
