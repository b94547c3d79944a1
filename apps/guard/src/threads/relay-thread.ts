/** Thread of a worker: the door for requests with long bodies. It may be busy for long; the judging thread is not. */
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { guardFiles, returnSocket, spoolDirectory } from '@sallyport/server/dataplane/enforcement-layout';
import { proxySocketMode } from '@sallyport/server/dataplane/proxy-account';
import { createJudge } from '../judge/judge.ts';
import { createForwarder } from '../relay/forward.ts';
import { createBodyHolder } from '../relay/held-body.ts';
import { createRelay } from '../relay/relay.ts';
import { createThread } from './in-thread.ts';
import type { ToThread } from './protocol.ts';

/** What the Core Rule Set recommends as SecRequestBodyLimit. */
const BODY_LIMIT = 13_107_200;
const MEMORY_BYTES = 128 * 1024;
const SPOOL_BYTES = 1024 * 1024 * 1024;
/** Longer than HAProxy keeps idle connections, so that it is the one to close them. */
const KEEP_ALIVE_MS = 120_000;
/** HAProxy's headers fit in its buffer. */
const MAX_HEADER_BYTES = 64 * 1024;

const thread = createThread();
const { counter, counted, data, tell } = thread;
const directory = spoolDirectory(data.dataDir);
mkdirSync(directory, { recursive: true, mode: 0o700 });

const forwarder = createForwarder(returnSocket(data.dataDir));
const relay = createRelay({
  policy: thread.policy,
  hasPolicy: thread.hasPolicy,
  judge: createJudge({ counter, tell }),
  counter,
  counted,
  tell,
  bodies: createBodyHolder({ directory, limit: BODY_LIMIT, memoryBytes: MEMORY_BYTES, spoolBytes: SPOOL_BYTES }),
  forwarder,
  bodyLimit: BODY_LIMIT,
});

const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: KEEP_ALIVE_MS }, relay);
// The relay answers this itself, once it knows that it wants the body.
server.on('checkContinue', relay);

thread.port.on('message', (message: ToThread) => {
  if (message.type === 'config') thread.adoptLater(message.config);
  else {
    server.close();
    server.closeAllConnections();
    forwarder.stop();
    thread.close();
    thread.port.close();
  }
});

const { relay: path } = guardFiles(data.dataDir, data.index);
if (data.config) thread.adoptLater(data.config);
// A worker's only relay: whatever is there was left by its predecessor.
rmSync(path, { force: true });
server.listen(path, () => {
  chmodSync(path, proxySocketMode(path));
  thread.say({ type: 'listening' });
});
