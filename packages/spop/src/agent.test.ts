import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectRaw, hello, notify, string } from '../test/proxy-side.ts';
import { setVar } from './actions.ts';
import { createSpopAgent, type SpopAgent, type SpopAgentOptions } from './agent.ts';
import type { Actions, ConnectionEnd, NotifyHandler } from './handler.ts';

let directory: string;
let path: string;
const agents: SpopAgent[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spop-agent-'));
  path = join(directory, 'agent.sock');
});

afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.stop({ timeoutMs: 0 })));
  await rm(directory, { recursive: true });
});

const echo: NotifyHandler = (messages) => [setVar('txn', 'path', messages[0]?.get('path')?.text() ?? '')];
const request = (streamId: number) =>
  notify(streamId, 1, [{ name: 'm', args: [{ name: 'path', value: string(`/${streamId}`) }] }]);
const answerTo = (streamId: number) => ({ type: 'ack', streamId, actions: [{ name: 'path', value: `/${streamId}` }] });

const givenAgent = async (options: Partial<SpopAgentOptions> = {}) => {
  const agent = createSpopAgent({ path, onNotify: echo, ...options } as SpopAgentOptions);
  agents.push(agent);
  await agent.listen();
  return agent;
};

describe('listens', () => {
  test('on a unix socket that only its owner may use', async () => {
    await givenAgent();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const peer = await connectRaw({ path });
    peer.send(hello(), request(1));
    expect(await peer.until(2)).toMatchObject([{ type: 'hello' }, answerTo(1)]);
  });

  test('on TCP', async () => {
    const agent = createSpopAgent({ port: 0, onNotify: echo });
    agents.push(agent);
    await agent.listen();
    const peer = await connectRaw({ host: '127.0.0.1', port: agent.port ?? 0 });
    peer.send(hello(), request(1));
    expect(await peer.until(2)).toMatchObject([{ type: 'hello' }, answerTo(1)]);
  });

  test('on TCP at no other address of the machine, where none is named', async () => {
    const agent = createSpopAgent({ port: 0, onNotify: echo });
    agents.push(agent);
    expect(agent.port).toBeNull();
    await agent.listen();
    await expect(connectRaw({ host: '127.0.0.2', port: agent.port ?? 0 })).rejects.toThrow('ECONNREFUSED');
  });

  test('over the files that a crashed process left', async () => {
    await Promise.all([path, `${path}.${process.pid}`].map((file) => writeFile(file, '')));
    await givenAgent();
    const peer = await connectRaw({ path });
    peer.send(hello());
    await peer.until(1);
  });

  test('in place of an agent that still runs, which leaves the new one’s file alone when it stops', async () => {
    const old = await givenAgent();
    const oldPeer = await connectRaw({ path });
    oldPeer.send(hello(), request(1));
    await oldPeer.until(2);
    // The provisional name has the process id; two agents of one process come one after the other.
    await givenAgent();
    await old.stop();
    expect((await oldPeer.untilClosed()).at(-1)).toMatchObject({ type: 'disconnect', status: 0 });
    const peer = await connectRaw({ path });
    peer.send(hello(), request(2));
    expect(await peer.until(2)).toMatchObject([{ type: 'hello' }, answerTo(2)]);
  });

  test('nowhere when the address is taken, and says so', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    const agent = createSpopAgent({ port, onNotify: echo });
    await expect(agent.listen()).rejects.toThrow('EADDRINUSE');
    await new Promise((resolve) => other.close(resolve));
  });

  test('nowhere when the path is longer than a socket address can hold', async () => {
    const agent = createSpopAgent({ path: join(directory, 'x'.repeat(120)), onNotify: echo });
    await expect(agent.listen()).rejects.toThrow('too long');
  });
});

test.each([
  [{ limits: { maxArguments: 256 } }, 'maxArguments'],
  [{ limits: { idleTimeoutMs: 0 } }, 'idleTimeoutMs'],
  [{ limits: { maxConnections: Number.NaN } }, 'maxConnections'],
  [{ maxFrameSize: 255 }, 'maxFrameSize'],
])('refuses %j', (options, name) => {
  expect(() => createSpopAgent({ path, onNotify: echo, ...options })).toThrow(name);
});

test('garbage ends its own connection with a reason; others go on', async () => {
  const ends: ConnectionEnd[] = [];
  const agent = await givenAgent({ observer: { connectionClosed: (_, end) => ends.push(end) } });
  const [good, bad] = await Promise.all([connectRaw({ path }), connectRaw({ path })]);
  good.send(hello(), request(1));
  await good.until(2);
  bad.send(Buffer.from('GET / HTTP/1.1\r\nHost: example.test\r\n\r\n'));
  expect(await bad.untilClosed()).toMatchObject([{ type: 'disconnect', status: 3 }]);
  good.send(request(2));
  expect((await good.until(3))[2]).toMatchObject(answerTo(2));
  expect(ends).toMatchObject([{ by: 'agent', status: 3 }]);
  expect(agent.stats).toMatchObject({ connectionsTotal: 2, protocolErrors: 1, notifies: 2, acks: 2 });
});

test('a connection beyond the limit is told so', async () => {
  const agent = await givenAgent({ limits: { maxConnections: 1 } });
  const first = await connectRaw({ path });
  first.send(hello());
  await first.until(1);
  const second = await connectRaw({ path });
  second.send(hello());
  expect(await second.untilClosed()).toMatchObject([{ type: 'disconnect', status: 13 }]);
  first.socket.destroy();
  await expect.poll(() => agent.stats.connections).toBe(0);
  const third = await connectRaw({ path });
  third.send(hello());
  expect(await third.until(1)).toMatchObject([{ type: 'hello' }]);
  expect(agent.stats.connectionsRefused).toBe(1);
});

test('a connection beyond the limit that is reset does not harm the others', async () => {
  const agent = await givenAgent({ limits: { maxConnections: 1 } });
  const first = await connectRaw({ path });
  first.send(hello(), request(1));
  await first.until(2);
  const second = connect({ path, allowHalfOpen: true });
  second.on('error', () => {});
  await once(second, 'connect');
  second.write(Buffer.alloc(1_000_000));
  second.destroy();
  await expect.poll(() => agent.stats.connectionsRefused).toBe(1);
  first.send(request(2));
  expect((await first.until(3))[2]).toMatchObject(answerTo(2));
});

test('of connections beyond the limit 64 may stay to be told, the others are cut off at once', async () => {
  const agent = await givenAgent({ limits: { maxConnections: 1, lingerTimeoutMs: 600_000 } });
  const first = await connectRaw({ path });
  // They never close their side.
  const peers = Array.from({ length: 70 }, () => connect({ path, allowHalfOpen: true }));
  let closed = 0;
  for (const peer of peers)
    peer
      .on('error', () => {})
      .on('close', () => closed++)
      .resume();
  await expect.poll(() => agent.stats.connectionsRefused).toBe(70);
  // Who writes learns that the other side is gone.
  const gone = () => {
    for (const peer of peers) peer.write(' ');
    return closed;
  };
  await expect.poll(gone).toBe(6);
  first.socket.destroy();
  await agent.stop({ timeoutMs: 0 });
  await expect.poll(gone).toBe(70);
});

test('a peer that connects and says nothing is disconnected in time', async () => {
  await givenAgent({ limits: { frameTimeoutMs: 20 } });
  const peer = await connectRaw({ path });
  expect(await peer.untilClosed()).toMatchObject([{ type: 'disconnect', status: 2 }]);
});

test('a peer that never reads cannot make the agent hold its answers without end', async () => {
  const big = 'v'.repeat(15_000);
  const agent = await givenAgent({
    onNotify: () => [setVar('txn', 'v', big)],
    limits: { frameTimeoutMs: 300, lingerTimeoutMs: 20 },
  });
  const peer = await connectRaw({ path });
  peer.socket.pause();
  peer.send(hello());
  for (let id = 1; id <= 20_000; id++) peer.send(request(id));
  await expect.poll(() => agent.stats.connections).toBe(0);
  expect(agent.stats.notifies).toBeLessThan(20_000);
  peer.socket.destroy();
});

test('20,000 pipelined NOTIFYs over 4 connections are all answered', async () => {
  const agent = await givenAgent({
    onNotify: (messages, context) =>
      context.streamId % 3 === 0 ? Promise.resolve(echo(messages, context)) : echo(messages, context),
  });
  const peers = await Promise.all(Array.from({ length: 4 }, () => connectRaw({ path })));
  await Promise.all(
    peers.map(async (peer) => {
      peer.send(hello());
      for (let id = 1; id <= 5000; id++) peer.send(request(id));
      const frames = await peer.until(5001);
      const answered = new Set(frames.map((frame) => (frame.type === 'ack' ? frame.streamId : 0)));
      expect(answered.size).toBe(5001);
      for (const frame of frames.slice(1))
        expect(frame).toMatchObject(answerTo(frame.type === 'ack' ? frame.streamId : -1));
    }),
  );
  expect(agent.stats).toMatchObject({ notifies: 20_000, acks: 20_000, outstanding: 0, connections: 4 });
});

describe('stop', () => {
  test('answers what is in flight, says goodbye, takes no more, and removes its file', async () => {
    const pending: ((actions: Actions) => void)[] = [];
    const agent = await givenAgent({
      onNotify: () =>
        new Promise((resolve) => {
          pending.push(resolve);
        }),
    });
    const [busy, quiet] = await Promise.all([connectRaw({ path }), connectRaw({ path })]);
    busy.send(hello(), request(1));
    quiet.send(hello());
    await quiet.until(1);
    await expect.poll(() => pending.length).toBe(1);
    const stopped = agent.stop();
    expect((await quiet.untilClosed()).at(-1)).toMatchObject({ type: 'disconnect', status: 0 });
    // Connections are told goodbye by a timer, which need not wait until the file is gone.
    await expect.poll(() => existsSync(path)).toBe(false);
    await expect(connectRaw({ path })).rejects.toThrow('ENOENT');
    pending[0]?.([setVar('txn', 'path', '/1')]);
    expect(await busy.untilClosed()).toMatchObject([{ type: 'hello' }, answerTo(1), { type: 'disconnect', status: 0 }]);
    await stopped;
    await expect(stat(path)).rejects.toThrow('ENOENT');
    expect(agent.stats).toMatchObject({ connections: 0, outstanding: 0 });
  });

  test('does not wait longer than told for a handler that never settles', async () => {
    const agent = await givenAgent({ onNotify: () => new Promise(() => {}) });
    const peer = await connectRaw({ path });
    peer.send(hello(), request(1));
    await expect.poll(() => agent.stats.outstanding).toBe(1);
    await agent.stop({ timeoutMs: 20 });
    expect(await peer.untilClosed()).toMatchObject([{ type: 'hello' }]);
    expect(agent.stats).toMatchObject({ connections: 0, outstanding: 0 });
  });
});
