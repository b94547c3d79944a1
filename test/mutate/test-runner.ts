import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Answer, Order } from './orders.ts';
import type { Sandbox } from './sandbox.ts';

/** Runs test files of a sandbox. */
export interface TestRunner {
  /** A run that takes longer than its processor time, or five minutes, is ended. */
  run(order: Omit<Order, 'changed'>): Promise<Answer>;
  stop(): Promise<void>;
}

/** However idle, a run that takes this long is not going to end: tests have limits of their own. */
const patienceMs = 300_000;

/** Processes and network of its own, if the machine lets us: what a broken product starts ends with the run. */
const findNamespace = (): readonly string[] => {
  const unshare = ['unshare', '--pid', '--net', '--fork', '--kill-child', '--mount-proc'];
  const isAllowed = spawnSync(unshare[0]!, [...unshare.slice(1), 'ip', 'link', 'set', 'lo', 'up']).status === 0;
  // The shell collects processes whose parents have ended.
  return isAllowed ? [...unshare, 'sh', '-c', 'ip link set lo up; "$@" & wait', 'tests'] : [];
};

/** Makes a runner; its process is started with the first run, and anew after one that took too long. */
export const createTestRunner = (sandbox: Sandbox, testNames: string | undefined): TestRunner => {
  const namespace = findNamespace();
  let current: ChildProcess | undefined;

  const start = (): ChildProcess => {
    const argv = [...namespace, process.execPath, fileURLToPath(new URL('./test-process.ts', import.meta.url))];
    return spawn(argv[0]!, argv.slice(1), {
      cwd: sandbox.root,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: {
        ...process.env,
        TMPDIR: sandbox.temporary,
        ...(namespace.length > 0 ? { MUTATE_ALONE: 'yes' } : {}),
        ...(testNames === undefined ? {} : { MUTATE_TEST_NAMES: testNames }),
      },
    });
  };

  const stop = async (): Promise<void> => {
    const running = current;
    current = undefined;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, 'exit');
    running.kill('SIGKILL');
    await ended;
  };

  return {
    async run(order) {
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
      if (answer && answer.outcome !== 'too long') return answer;
      await stop();
      return answer ?? { outcome: 'too long', processorMs: 0, failures: [] };
    },
    stop,
  };
};
