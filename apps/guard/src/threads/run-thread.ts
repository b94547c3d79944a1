import { Worker } from 'node:worker_threads';
import type { GuardConfig } from '@sallyport/contract';
import type { Judgement } from '../judge/judge.ts';
import type { FromThread, Question, ThreadData, ToThread } from './protocol.ts';

/** What became of a configuration in one thread. */
export type Adoption = { revision: number; diagnostics: readonly string[] };

/** A thread's answer; with `isOpen` it waits for the origin's, or for `end`. */
export type Word = { judgement: Judgement; isOpen: boolean };

/** `judge` answers HAProxy and takes the relay's short requests, `lane` the relay's others. */
export type ThreadKind = 'judge' | 'lane';

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
  /** What became of the configuration that it was started with. */
  started: Promise<Adoption>;
  adopt(config: GuardConfig): Promise<Adoption>;
  /** Rejects when there is no word, or the thread ends before it. */
  ask(question: Question): Promise<Word>;
  /** No answer of an origin will come for this question. */
  end(id: number): void;
  /** Grows as long as the thread is not stuck. */
  beats(): number;
  /** Resolves when it judges nothing new; it ends once open exchanges have ended, at the latest after `lingerMs`. */
  retire(lingerMs: number): Promise<void>;
  /** Resolves when the thread has ended, by itself or by `retire`. */
  exited: Promise<void>;
  kill(): void;
}

/** Few are born and most of them die at once: small generations cost less memory and make shorter pauses. */
const YOUNG_GENERATION_MB = 16;

const start = (kind: ThreadKind, workerData: ThreadData): Worker => {
  const options = { workerData, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB } };
  switch (kind) {
    case 'judge':
      return new Worker(new URL('./judge-thread.ts', import.meta.url), options);
    case 'lane':
      return new Worker(new URL('./lane-thread.ts', import.meta.url), options);
    default:
      return kind satisfies never;
  }
};

/** Starts a thread that judges. */
export const runThread = (kind: ThreadKind, deps: ThreadDeps): RunningThread => {
  const heartbeat = new SharedArrayBuffer(4);
  const beat = new Int32Array(heartbeat);
  const worker = start(kind, { ...deps.data, heartbeat });
  const listening = Promise.withResolvers<void>();
  const started = Promise.withResolvers<Adoption>();
  const retired = Promise.withResolvers<void>();
  const exited = Promise.withResolvers<void>();
  const adoptions = new Map<number, (adoption: Adoption) => void>([[deps.data.config.revision, started.resolve]]);
  const questions = new Map<number, PromiseWithResolvers<Word>>();

  const settle = (adoption: Adoption): void => {
    adoptions.get(adoption.revision)?.(adoption);
    adoptions.delete(adoption.revision);
  };
  const answered = (id: number): PromiseWithResolvers<Word> | undefined => {
    const question = questions.get(id);
    questions.delete(id);
    return question;
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
      case 'retired':
        return retired.resolve();
      case 'judged':
        return answered(message.id)?.resolve({ judgement: message.judgement, isOpen: message.isOpen });
      case 'unjudged':
        return answered(message.id)?.reject(new Error(message.reason));
      default:
        message satisfies never;
    }
  });
  let failure: string | undefined;
  let hasExited = false;
  worker.on('error', (error) => {
    failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`sallyport guard: ${kind} thread: ${failure}\n`);
  });
  worker.on('exit', (code) => {
    hasExited = true;
    for (const [revision, resolve] of adoptions) resolve({ revision, diagnostics: [failure ?? 'the thread ended'] });
    adoptions.clear();
    for (const question of questions.values()) question.reject(new Error('the thread that judges has ended'));
    questions.clear();
    retired.resolve();
    exited.resolve();
    deps.onExit(failure === undefined ? code : 1);
  });

  const send = (message: ToThread): void => worker.postMessage(message);
  return {
    listening: listening.promise,
    started: started.promise,
    exited: exited.promise,
    adopt(next) {
      if (hasExited) return Promise.resolve({ revision: next.revision, diagnostics: [failure ?? 'the thread ended'] });
      const adoption = Promise.withResolvers<Adoption>();
      adoptions.set(next.revision, adoption.resolve);
      send({ type: 'config', config: next });
      return adoption.promise;
    },
    ask(question) {
      // Nobody would answer. Whoever asks about an answer may come long after the rules that judged its request.
      if (hasExited) return Promise.reject(new Error('the thread that judges has ended'));
      const word = Promise.withResolvers<Word>();
      questions.set(question.id, word);
      send(question);
      return word.promise;
    },
    end: (id) => send({ type: 'end', id }),
    beats: () => Atomics.load(beat, 0),
    async retire(lingerMs) {
      send({ type: 'retire', lingerMs });
      await retired.promise;
    },
    kill: () => void worker.terminate(),
  };
};
