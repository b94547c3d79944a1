import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Answer, Order } from './orders.ts';
import { descendsFrom, readProcesses } from './processes.ts';
import type { Sandbox } from './sandbox.ts';

/** Runs test files of a sandbox. */
export interface TestRunner {
  /** A run that takes longer than its processor time, or five minutes, is ended. Throws once the runner is stopped. */
  run(order: Omit<Order, 'changed'>): Promise<Answer>;
  /** For good: resolves when all that it started has ended. */
  stop(): Promise<void>;
}

/** However idle, a run that takes this long is not going to end: tests have limits of their own. */
const patienceMs = 300_000;

const SHARED_MEMORY = '/dev/shm';

/**
 * Processes, network and shared memory of its own, if the machine lets us: what a broken product starts ends with the run, and what a
 * PostgreSQL that is killed leaves in memory goes with it. A sandbox that lies in that memory itself keeps the machine's.
 */
const findNamespace = (sandbox: Sandbox): readonly string[] => {
  const unshare = ['unshare', '--pid', '--net', '--fork', '--kill-child', '--mount-proc'];
  const isAllowed = spawnSync(unshare[0]!, [...unshare.slice(1), 'ip', 'link', 'set', 'lo', 'up']).status === 0;
  const hide = sandbox.root.startsWith(`${SHARED_MEMORY}/`)
    ? ''
    : `mount -t tmpfs -o mode=1777 tmpfs ${SHARED_MEMORY};`;
  // The shell collects processes whose parents have ended. What unshare says when its child is killed helps nobody: 4 is our stderr.
  return isAllowed ? [...unshare, 'sh', '-c', `exec 2>&4; ip link set lo up; ${hide} "$@" & wait`, 'tests'] : [];
};

/** Makes a runner; its process is started with the first run, and anew after one that took too long. */
export const createTestRunner = (sandbox: Sandbox, testNames: string | undefined): TestRunner => {
  const namespace = findNamespace(sandbox);
  let current: ChildProcess | undefined;
  let isStopped = false;

  const start = (): ChildProcess => {
    const argv = [...namespace, process.execPath, fileURLToPath(new URL('./test-process.ts', import.meta.url))];
    return spawn(argv[0]!, argv.slice(1), {
      cwd: sandbox.root,
      stdio: ['ignore', 'ignore', namespace.length > 0 ? 'ignore' : 'inherit', 'ipc', 2],
      env: {
        ...process.env,
        TMPDIR: sandbox.temporary,
        ...(namespace.length > 0 ? { MUTATE_ALONE: 'yes' } : {}),
        ...(testNames === undefined ? {} : { MUTATE_TEST_NAMES: testNames }),
      },
    });
  };

  const end = async (running: ChildProcess): Promise<void> => {
    if (current === running) current = undefined;
    if (running.pid === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, 'exit');
    const processes = readProcesses();
    const started = [...processes.keys()].filter((pid) => descendsFrom(processes, pid, running.pid!));
    for (const pid of started) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
    }
    // Left alone, `unshare` ends after its namespace has: killed, it would leave before the last of those in there.
    if (namespace.length === 0 || started.length === 0) running.kill('SIGKILL');
    await ended;
  };

  return {
    async run(order) {
      if (isStopped) throw new Error('the runner of tests is stopped');
      current ??= start();
      const running = current;
      const given = new AbortController();
      const answer = await Promise.race([
        once(running, 'message', { signal: given.signal }).then(([message]) => message as Answer),
        once(running, 'exit', { signal: given.signal }).then(() => undefined),
        new Promise<undefined>((resolve) => {
          const timer = setTimeout(() => resolve(undefined), patienceMs);
          given.signal.addEventListener('abort', () => clearTimeout(timer));
          running.send({ ...order, changed: sandbox.takeChanged() } satisfies Order);
        }),
      ]);
      given.abort();
      if (isStopped) throw new Error('the runner of tests was stopped during a run');
      if (answer && answer.outcome !== 'too long') return answer;
      await end(running);
      return answer ?? { outcome: 'too long', processorMs: 0, failures: [] };
    },
    async stop() {
      isStopped = true;
      if (current) await end(current);
    },
  };
};
