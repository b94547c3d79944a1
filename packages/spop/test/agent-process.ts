import { type Actions, createSpopAgent, encodeActions, setVar } from '../src/index.ts';

/** An agent in a process of its own, for tests that kill it and benchmarks that weigh it. Usage: node agent-process.ts SOCKET NAME */
const [, , path, name] = process.argv;
if (path === undefined || name === undefined) throw new Error('usage: agent-process.ts SOCKET NAME');

const verdict: Actions = encodeActions([setVar('txn', 'verdict', name)]);
const agent = createSpopAgent({ path, mode: 0o666, onNotify: () => verdict });

const report = () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ ...agent.stats, cpuMicroseconds: user + system });
};

process.on('message', report);
process.on('SIGTERM', () => {
  void agent.stop().then(() => {
    report();
    process.disconnect?.();
  });
});

await agent.listen();
process.send?.('ready');
