import { Worker } from 'node:worker_threads';
import type { GuardConfig } from '@sallyport/contract';
import type { FromThread, ThreadData, ToThread } from './protocol.ts';

/** What became of a configuration in one thread. */
export type Adoption = { revision: number; diagnostics: readonly string[] };

export interface ThreadDeps {
  data: Omit<ThreadData, 'heartbeat'>;
  onLine: (line: string) => void;
  /** Called once; `code` is not 0 when the thread has failed. */
  onExit: (code: number) => void;
}

/** A living thread of this worker. */
export interface RunningThread {
  /** Resolves when it listens; never when it can't. */
  listening: Promise<void>;
  /** What became of the configuration that it was started with; undefined when there was none. */
  started: Promise<Adoption | undefined>;
  adopt(config: GuardConfig): Promise<Adoption>;
  /** Grows as long as the thread is not stuck. */
  beats(): number;
  /** Resolves when the thread has ended. */
  stop(): Promise<void>;
  kill(): Promise<void>;
}

const start = (kind: 'judge' | 'relay', workerData: ThreadData): Worker => {
  switch (kind) {
    case 'judge':
      return new Worker(new URL('./judge-thread.ts', import.meta.url), { workerData });
    case 'relay':
      return new Worker(new URL('./relay-thread.ts', import.meta.url), { workerData });
    default:
      return kind satisfies never;
  }
};

/** Starts a thread that judges, or one that relays. */
export const runThread = (kind: 'judge' | 'relay', deps: ThreadDeps): RunningThread => {
  const heartbeat = new SharedArrayBuffer(4);
  const beat = new Int32Array(heartbeat);
  const workerData: ThreadData = { ...deps.data, heartbeat };
  const worker = start(kind, workerData);
  const listening = Promise.withResolvers<void>();
  const started = Promise.withResolvers<Adoption | undefined>();
  const exited = Promise.withResolvers<void>();
  const waiting = new Map<number, (adoption: Adoption) => void>();
  const { config } = deps.data;
  if (config) waiting.set(config.revision, started.resolve);
  else started.resolve(undefined);

  const settle = (adoption: Adoption): void => {
    waiting.get(adoption.revision)?.(adoption);
    waiting.delete(adoption.revision);
  };

  worker.on('message', (message: FromThread) => {
    switch (message.type) {
      case 'line':
        return deps.onLine(message.line);
      case 'listening':
        return listening.resolve();
      case 'serving':
        return settle({ revision: message.revision, diagnostics: [] });
      case 'refused':
        return settle({ revision: message.revision, diagnostics: message.diagnostics });
      default:
        message satisfies never;
    }
  });
  let failure: string | undefined;
  worker.on('error', (error) => {
    failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`sallyport guard: ${kind} thread: ${failure}\n`);
  });
  worker.on('exit', (code) => {
    for (const [revision, resolve] of waiting) resolve({ revision, diagnostics: [failure ?? 'the thread ended'] });
    waiting.clear();
    exited.resolve();
    deps.onExit(failure === undefined ? code : 1);
  });

  const send = (message: ToThread): void => worker.postMessage(message);
  return {
    listening: listening.promise,
    started: started.promise,
    adopt(next) {
      const adoption = Promise.withResolvers<Adoption>();
      waiting.set(next.revision, adoption.resolve);
      send({ type: 'config', config: next });
      return adoption.promise;
    },
    beats: () => Atomics.load(beat, 0),
    async stop() {
      send({ type: 'stop' });
      await exited.promise;
    },
    async kill() {
      await worker.terminate();
    },
  };
};
