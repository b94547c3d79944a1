/** Thread of a worker: answers HAProxy's questions by one set of rules, and the relay's short ones. Other rules mean another thread. */
import { guardFiles } from '@sallyport/deployment/places';
import { createAgent } from '../judge/agent.ts';
import { createJudge } from '../judge/judge.ts';
import { createThread } from './in-thread.ts';
import { createJudgeRelayed } from './judge-relayed.ts';
import { serveRelay } from './serve-relay.ts';

const thread = createThread();
const { counter, counted, data, policy, say, tell } = thread;
const judge = createJudge({ counter, tell });
const relayed = createJudgeRelayed({ policy, judge, counter, counted, say });
const { agent: path } = guardFiles(data.dataDir, data.index);
const agent = createAgent({ path, policy, judge, counter, counted, tell, worker: data.index });

serveRelay({ thread, relayed, leave: agent.stop });

// A thread that has nothing to judge by does not listen.
if (thread.adopt(data.config)) {
  await agent.listen();
  say({ type: 'listening' });
}
