import { existsSync } from 'node:fs';
import type { Listen } from '@sallyport/deployment/listen';
import { prepareRunDirectory } from '@sallyport/deployment/proxy-account';
import type { Logger } from 'pino';
import { worksIn } from '../adoption.ts';
import type { ChildSpec } from '../child-spec.ts';
import { explainBindError, whyNotBindable } from '../listeners.ts';
import { runToEnd } from '../process/run-to-end.ts';
import { answersLine } from './answers.ts';
import { readHaproxyLine } from './haproxy-output.ts';
import type { Layout } from './layout.ts';
import { programPath } from './program-path.ts';

export interface HaproxyDeps {
  layout: Layout;
  listeners: readonly Listen[];
  /** For the program that writes HAProxy's files from the store: the same as the server's. */
  serverEnv: Readonly<Record<string, string>>;
  log: Logger;
}

/** A million hosts on a busy machine; a store that does not answer is given up sooner, by the renderer itself. */
const renderWithinMs = 180_000;
/**
 * The data plane, as master and worker. A worker that is killed takes its master along (exit-on-failure), and a worker
 * whose master is killed ends by itself, so that a restart always begins from nothing.
 */
export const haproxyChild = ({ layout, listeners, serverEnv, log }: HaproxyDeps): ChildSpec => {
  const render = async (signal: AbortSignal) => {
    const argv = [process.execPath, programPath('server/src/render/main.ts')] as const;
    try {
      await runToEnd({ argv, env: serverEnv, signal: AbortSignal.any([signal, AbortSignal.timeout(renderWithinMs)]) });
    } catch (err) {
      // Yesterday's routes are better than none: the reconciler brings the rest once the store can be read again.
      if (signal.aborted || !existsSync(layout.haproxyConfig)) throw err;
      log.error({ err }, 'the store cannot be read: HAProxy starts on the files of its last run');
    }
  };

  return {
    name: 'haproxy',
    argv: ['haproxy', '-W', '-S', `${layout.masterSocket},mode,600`, '-f', layout.haproxyConfig],
    // Nothing else from ours: it may hold secrets that only the server needs.
    env: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      SALLYPORT_DATA_DIR: layout.dataDir,
      SALLYPORT_PROXY_HTTP: serverEnv.SALLYPORT_PROXY_HTTP ?? '',
      SALLYPORT_PROXY_HTTPS: serverEnv.SALLYPORT_PROXY_HTTPS ?? '',
      // They are in its configuration: with others it has to start anew.
      SALLYPORT_GUARDS: serverEnv.SALLYPORT_GUARDS ?? '',
    },
    // Sockets in there have relative names in its configuration when it is confined to it.
    cwd: layout.runDir,
    output: readHaproxyLine,
    // Requests in flight may finish; connections that stay open after that are cut.
    stop: [
      { signal: 'SIGUSR1', waitMs: 1_000 },
      { signal: 'SIGTERM', waitMs: 500 },
    ],
    async prepare(signal) {
      prepareRunDirectory(layout.dataDir);
      await render(signal);
      for (const listen of listeners) {
        const problem = await whyNotBindable(listen);
        // HAProxy would not say so: it shares ports (SO_REUSEPORT) with others of the same user.
        if (problem) throw new Error(`${listen.host}:${listen.port} can't be bound: ${explainBindError(problem)}`);
      }
    },
    // The worker serves; without the master a change of the rate limit's window could not be made.
    // One whose directory was taken away can't reach the guards any more, however well it answers.
    isAlive: async (pid) => {
      if (!worksIn(pid, layout.runDir)) return false;
      const both = [layout.adminSocket, layout.masterSocket].map((path) => answersLine(path, 'show version'));
      return (await Promise.all(both)).every((isAnswered) => isAnswered);
    },
    // Its event loop never waits, and its own watchdog ends it after a second or two in one event. A million hosts take
    // it half a minute to load.
    patience: { idleMs: 5_000, busyMs: 30_000, start: { idleMs: 15_000, busyMs: 10 * 60_000 } },
  };
};
