/** Thread of a worker: judges what the relay has read, one request after the other, however long that takes. */
import { createJudge } from '../judge/judge.ts';
import { createThread } from './in-thread.ts';
import { createJudgeRelayed } from './judge-relayed.ts';
import { beNice } from './nice.ts';
import type { ToThread } from './protocol.ts';

const thread = createThread();
const { counter, counted, data, policy, say, tell } = thread;
// Whoever waits for megabytes to be judged waits a little longer, and everybody else does not.
beNice();
const relayed = createJudgeRelayed({ policy, judge: createJudge({ counter, tell }), counter, counted, say });

thread.port.on('message', (message: ToThread) => {
  switch (message.type) {
    case 'config':
      thread.adopt(message.config);
      return;
    case 'retire':
      say({ type: 'retired' });
      void relayed.finish(message.lingerMs).then(thread.close);
      return;
    case 'end':
      relayed.end(message.id);
      return;
    case 'request':
    case 'response':
      relayed.ask(message);
      return;
    default:
      message satisfies never;
  }
});

if (!thread.adopt(data.config)) thread.close();
