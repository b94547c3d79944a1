/** Thread of a worker: judges what the relay has read, one request after the other, however long that takes. */
import { createJudge } from '../judge/judge.ts';
import { createThread } from './in-thread.ts';
import { createJudgeRelayed } from './judge-relayed.ts';
import { beNice } from './nice.ts';
import { serveRelay } from './serve-relay.ts';

const thread = createThread();
const { counter, counted, data, policy, say, tell } = thread;
// Whoever waits for megabytes to be judged waits a little longer, and everybody else does not.
beNice();
const relayed = createJudgeRelayed({ policy, judge: createJudge({ counter, tell }), counter, counted, say });

serveRelay({ thread, relayed, leave: async () => {} });

if (!thread.adopt(data.config)) thread.close();
