/**
 * A thread of acme.ts: opens new TLS connections at a steady rate, each for a random one of the names, and counts those that fail. A
 * handshake is good when the certificate is of `root`, valid now and for that name, as any client checks it.
 */
import { connect as connectTls, createSecureContext } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';

const { port, names, root, perSecond } = workerData as {
  port: number;
  names: readonly string[];
  root: string;
  perSecond: number;
};

/** What comes of a thread when it is told to stop. */
export interface Handshakes {
  /** From connect to a verified certificate, in milliseconds, of those that succeeded. */
  durations: number[];
  /** How often each reason was met. */
  failures: Map<string, number>;
  seconds: number;
}

const TICK_MS = 5;
/** A machine that can't keep up gets fewer, which the figures tell; it must not look as if the proxy had not answered. */
const MOST_AT_ONCE = 200;
const TIMEOUT_MS = 10_000;

// One for all: what a handshake costs here is the handshake.
const secureContext = createSecureContext({ ca: root });
const durations: number[] = [];
const failures = new Map<string, number>();
const pending = new Set<Promise<void>>();

const handshake = (servername: string): Promise<void> =>
  new Promise((resolve) => {
    const began = performance.now();
    const socket = connectTls({ host: '127.0.0.1', port, servername, secureContext, timeout: TIMEOUT_MS });
    const fail = (reason: string): void => {
      failures.set(reason, (failures.get(reason) ?? 0) + 1);
      socket.destroy();
      resolve();
    };
    socket.once('secureConnect', () => {
      durations.push(performance.now() - began);
      socket.removeAllListeners('error').on('error', () => {});
      socket.destroy();
      resolve();
    });
    socket.once('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message));
    socket.once('timeout', () => fail(`nothing within ${TIMEOUT_MS / 1_000} s`));
  });

const start = performance.now();
let count = 0;
const timer = setInterval(() => {
  const due = ((performance.now() - start) * perSecond) / 1_000;
  for (; count < due && pending.size < MOST_AT_ONCE; count += 1) {
    const one = handshake(names[Math.floor(Math.random() * names.length)] ?? '');
    pending.add(one);
    void one.finally(() => pending.delete(one));
  }
}, TICK_MS);

parentPort?.once('message', () => {
  clearInterval(timer);
  const seconds = (performance.now() - start) / 1_000;
  void Promise.all(pending).then(() => parentPort?.postMessage({ durations, failures, seconds } satisfies Handshakes));
});
