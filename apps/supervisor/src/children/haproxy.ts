import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import type { Listen } from '@sallyport/server/net/listen';
import type { Logger } from 'pino';
import type { ChildSpec } from '../child-spec.ts';
import { explainBindError, whyNotBindable } from '../listeners.ts';
import { runToEnd } from '../process/run-to-end.ts';
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

const renderWithinMs = 30_000;
const answerWithinMs = 1_000;

/** Whether HAProxy's worker answers on its runtime API. */
const answers = (socketPath: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.setTimeout(answerWithinMs, () => socket.destroy());
    socket.once('connect', () => socket.write('show version\n'));
    socket.once('data', () => {
      resolve(true);
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });

/**
 * The data plane, as master and worker. A worker that is killed takes its master along (exit-on-failure), and a worker
 * whose master is killed ends by itself, so that a restart always begins from nothing.
 */
export const haproxyChild = ({ layout, listeners, serverEnv, log }: HaproxyDeps): ChildSpec => {
  const render = async (signal: AbortSignal) => {
    const argv = [process.execPath, programPath('server/src/render-data-plane.ts')] as const;
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
      await render(signal);
      for (const listen of listeners) {
        const problem = await whyNotBindable(listen);
        // HAProxy would not say so: it shares ports (SO_REUSEPORT) with others of the same user.
        if (problem) throw new Error(`${listen.host}:${listen.port} can't be bound: ${explainBindError(problem)}`);
      }
    },
    isReady: () => answers(layout.adminSocket),
  };
};
