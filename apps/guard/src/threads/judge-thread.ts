/** Thread of a worker: answers HAProxy's questions by one set of rules. Other rules mean another thread. */

import { guardFiles } from '@sallyport/server/dataplane/enforcement-layout';
import { proxySocketMode } from '@sallyport/server/dataplane/proxy-account';
import { createSpopAgent } from '@sallyport/spop';
import { createJudge } from '../judge/judge.ts';
import { createOnNotify } from '../judge/on-notify.ts';
import { createThread } from './in-thread.ts';
import type { ToThread } from './protocol.ts';

/** Old rules must not go on judging for longer than a change may take; connections in use are cut after this. */
const STOP_WITHIN_MS = 300;
/** One log line about failures in this time; each is counted. */
const FAILURE_LOG_MS = 1_000;

const thread = createThread();
const { counter, counted, data } = thread;
let failureToldAt = Number.NEGATIVE_INFINITY;

const { agent: path } = guardFiles(data.dataDir, data.index);
const agent = createSpopAgent({
  path,
  mode: proxySocketMode(path),
  onNotify: createOnNotify({
    policy: thread.policy,
    judge: createJudge({ counter, tell: thread.tell }),
    counter,
  }),
  observer: {
    // Once for all answers that go out together.
    answering: counted,
    handlerFailed(error) {
      const now = performance.now();
      if (now - failureToldAt < FAILURE_LOG_MS) return;
      failureToldAt = now;
      thread.tell({
        type: 'log',
        timestamp: new Date().toISOString(),
        level: 'error',
        source: 'guard',
        message: 'A request could not be judged',
        fields: { worker: data.index, error: String(error).slice(0, 500) },
      });
    },
  },
});

/** Listens once there is something to judge by, or at once when there never was: HAProxy then refuses, and says so. */
const start = async (): Promise<void> => {
  const isServing = data.config !== undefined && thread.adopt(data.config);
  if (data.config !== undefined && !isServing) return;
  await agent.listen();
  thread.say({ type: 'listening' });
};

thread.port.on('message', (message: ToThread) => {
  switch (message.type) {
    case 'config':
      thread.adopt(message.config);
      return;
    case 'stop':
      void agent.stop({ timeoutMs: STOP_WITHIN_MS }).then(() => {
        thread.close();
        thread.port.close();
      });
      return;
    default:
      message satisfies never;
  }
});

await start();
