/**
 * The agent alone: its CPU for each NOTIFY (8 arguments, 0.7 KB) by how many HAProxy sends before it waits for answers.
 * Usage: node packages/spop/bench/pipelined.ts [notifies]
 */
import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Counters } from '../src/index.ts';
import { connectRaw, hello, notify, string } from '../test/proxy-side.ts';

const total = Number(process.argv[2] ?? 100_000);
const CONNECTIONS = 4;

const request = notify(12345, 1, [
  {
    name: 'check-request',
    args: [
      { name: 'id', value: string('0b3f2f0e-5a52-4d4f-9a64-6f0a6d7b1c11') },
      { name: 'src', value: { type: 'ipv4', bytes: Uint8Array.of(127, 0, 0, 1) } },
      { name: 'method', value: string('GET') },
      { name: 'path', value: string('/products/42/reviews') },
      { name: 'query', value: string('page=3&sort=newest') },
      { name: 'version', value: string('1.1') },
      { name: 'headers', value: { type: 'binary', bytes: Buffer.alloc(520, 7) } },
      { name: 'body', value: { type: 'binary', bytes: new Uint8Array(0) } },
    ],
  },
]);

const directory = await mkdtemp(join(tmpdir(), 'spop-bench-'));
const path = join(directory, 'agent.sock');
const agent = fork(new URL('../test/agent-process.ts', import.meta.url), [path, 'allow']);
await new Promise((resolve) => agent.once('message', resolve));

const report = () =>
  new Promise<Counters & { cpuMicroseconds: number }>((resolve) => {
    agent.once('message', (message) => resolve(message as Counters & { cpuMicroseconds: number }));
    agent.send('report');
  });

/** Sends `depth` NOTIFYs, waits for as many answers, and again; on several connections at once. */
const load = async (depth: number, count: number) => {
  const batch = Buffer.concat(Array.from({ length: depth }, () => request));
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const peer = await connectRaw({ path });
      peer.send(hello());
      await peer.until(1);
      for (let sent = 0; sent < count / CONNECTIONS; sent += depth) {
        peer.frames.length = 0;
        peer.send(batch);
        await peer.until(depth);
      }
      peer.socket.destroy();
    }),
  );
};

try {
  await load(20, 20_000);
  for (const depth of [1, 4, 20]) {
    const before = await report();
    await load(depth, total);
    const after = await report();
    const cost = (after.cpuMicroseconds - before.cpuMicroseconds) / (after.notifies - before.notifies);
    process.stdout.write(`${String(depth).padStart(3)} at a time: ${cost.toFixed(1)} µs of agent CPU per NOTIFY\n`);
  }
} finally {
  agent.kill('SIGKILL');
  await rm(directory, { recursive: true });
}
