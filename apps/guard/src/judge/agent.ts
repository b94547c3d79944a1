import type { GuardMessage } from '@sallyport/contract';
import { proxySocketMode } from '@sallyport/deployment/proxy-account';
import { createSpopAgent } from '@sallyport/spop';
import type { Policy } from '../policy/policy.ts';
import type { Counter } from '../tell/counts.ts';
import type { JudgeRequests } from './judge.ts';
import { createOnNotify } from './on-notify.ts';

/** Old rules must not go on judging for longer than a change may take; connections in use are cut after this. */
const STOP_WITHIN_MS = 300;
/** One log line about failures in this time; each is counted. */
const FAILURE_LOG_MS = 1_000;

export interface AgentDeps {
  /** Unix socket. */
  path: string;
  /** Number of this worker. */
  worker: number;
  policy: () => Policy | undefined;
  judge: JudgeRequests;
  counter: Counter;
  counted(): void;
  tell(message: GuardMessage): void;
}

/** What answers HAProxy's questions on a worker's socket. */
export const createAgent = ({ path, worker, policy, judge, counter, counted, tell }: AgentDeps) => {
  let failureToldAt = Number.NEGATIVE_INFINITY;
  const tellFailure = (error: string): void => {
    const now = performance.now();
    if (now - failureToldAt < FAILURE_LOG_MS) return;
    failureToldAt = now;
    tell({
      type: 'log',
      timestamp: new Date().toISOString(),
      level: 'error',
      source: 'guard',
      message: 'A request could not be judged',
      fields: { worker, error: error.slice(0, 500) },
    });
  };
  const agent = createSpopAgent({
    path,
    mode: proxySocketMode(path),
    onNotify: createOnNotify({ policy, judge, counter, worker, onUnprepared: tellFailure }),
    observer: {
      // Once for all answers that go out together.
      answering: counted,
      handlerFailed: (error) => tellFailure(String(error)),
    },
  });
  return {
    listen: (): Promise<void> => agent.listen(),
    stop: (): Promise<void> => agent.stop({ timeoutMs: STOP_WITHIN_MS }),
  };
};
export type Agent = ReturnType<typeof createAgent>;
