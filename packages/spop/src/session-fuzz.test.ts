import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { givenSession } from '../test/given-session.ts';
import { frame, hello, keyValues, notify, string } from '../test/proxy-side.ts';
import { setVar } from './actions.ts';
import { FrameType } from './frame.ts';
import type { NotifyHandler } from './handler.ts';

// Touches everything that a handler can, so that a bad offset would show.
const readAll: NotifyHandler = (messages) => {
  let total = 0;
  for (const message of messages) {
    for (const argument of message.args) {
      total += argument.bytes.length + argument.text().length + (argument.address?.length ?? 0);
    }
  }
  return [setVar('txn', 'total', total)];
};

const conversation = Buffer.concat([
  hello(),
  notify(1, 1, [
    {
      name: 'check',
      args: [
        { name: 'ip', value: { type: 'ipv4', bytes: Uint8Array.of(127, 0, 0, 1) } },
        { name: 'headers', value: { type: 'binary', bytes: Buffer.alloc(700, 7) } },
        { name: 'n', value: { type: 'int64', value: -1n } },
        { name: 'path', value: string('/index.html') },
      ],
    },
  ]),
  frame(FrameType.notify, Buffer.from('begins'), { streamId: 2, frameId: 1 }, 0),
  frame(FrameType.unset, Buffer.from('ends'), { streamId: 2, frameId: 1 }, 1),
  notify(3, 1, [{ name: 'check', args: [] }]),
  frame(
    FrameType.haproxyDisconnect,
    keyValues({ 'status-code': { type: 'uint32', value: 0n }, message: string('bye') }),
  ),
]);

const mutation = fc.record({
  kind: fc.constantFrom('set', 'delete', 'insert', 'repeat'),
  at: fc.nat(conversation.length - 1),
  value: fc.nat(255),
  length: fc.integer({ min: 1, max: 40 }),
});

const mutate = (bytes: Buffer, changes: readonly { kind: string; at: number; value: number; length: number }[]) =>
  changes.reduce((current: Buffer, { kind, at, value, length }) => {
    const before = current.subarray(0, at);
    if (kind === 'set') return Buffer.concat([before, Buffer.of(value), current.subarray(at + 1)]);
    if (kind === 'delete') return Buffer.concat([before, current.subarray(at + length)]);
    if (kind === 'insert') return Buffer.concat([before, Buffer.alloc(length, value), current.subarray(at)]);
    return Buffer.concat([before, current.subarray(at, at + length), current.subarray(at)]);
  }, bytes);

/** Feeds the bytes in chunks and checks what must hold whatever they are. */
const feed = (bytes: Buffer, chunkSize: number, maxFragmentedSize: number) => {
  const given = givenSession(readAll, { maxFragmentedSize });
  for (let at = 0; at < bytes.length; at += chunkSize) given.session.receive(bytes.subarray(at, at + chunkSize));
  // The agent's own frames are well formed, and no more than one disconnect ends them.
  const frames = given.frames();
  const disconnects = frames.filter(({ type }) => type === 'disconnect');
  expect(disconnects.length).toBeLessThanOrEqual(1);
  if (disconnects.length === 1) expect(frames.at(-1)?.type).toBe('disconnect');
  expect(given.transport.isEnded).toBe(disconnects.length === 1 || given.counters.healthChecks === 1);
  expect(frames.filter(({ type }) => type === 'ack').length).toBeLessThanOrEqual(
    given.counters.notifies + given.counters.shed,
  );
  // An error of ours, not the peer's, would be reported here.
  expect(given.failures).toEqual([]);
  return given;
};

describe('whatever arrives, the session neither throws nor answers badly', () => {
  test('mutated conversations', () => {
    fc.assert(
      fc.property(
        fc.array(mutation, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 400 }),
        fc.constantFrom(0, 300, 5000),
        (changes, chunkSize, maxFragmentedSize) => {
          feed(mutate(conversation, changes), chunkSize, maxFragmentedSize);
        },
      ),
      { numRuns: 3000 },
    );
  });

  test('random bytes after a good hello', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.integer({ min: 1, max: 100 }), (noise, chunkSize) => {
        feed(Buffer.concat([hello(), noise]), chunkSize, 1000);
      }),
      { numRuns: 1000 },
    );
  });

  test('random payloads in good frames', () => {
    const type = fc.constantFrom(...Object.values(FrameType));
    const anyFrame = fc
      .tuple(type, fc.uint8Array({ maxLength: 300 }), fc.nat(5), fc.nat(3))
      .map(([kind, payload, id, flags]) => frame(kind, payload, { streamId: id, frameId: 1 }, flags));
    fc.assert(
      fc.property(fc.array(anyFrame, { maxLength: 8 }), (frames) => {
        feed(Buffer.concat([hello(), ...frames]), 1000, 500);
      }),
      { numRuns: 2000 },
    );
  });
});

test('the unchanged conversation is good: the fuzz above starts from something that works', () => {
  const given = feed(conversation, 100, 5000);
  expect(given.frames().map(({ type }) => type)).toEqual(['hello', 'ack', 'disconnect']);
});

test('memory stays bounded over 20,000 bad connections and huge claims', () => {
  const claim = Buffer.concat([hello(), Buffer.from([0, 0, 0x3f, 0xfc]), Buffer.alloc(100, 3)]);
  const run = (count: number) => {
    for (let i = 0; i < count; i++) {
      const given = givenSession(readAll);
      given.session.receive(
        i % 2 === 0
          ? claim
          : mutate(conversation, [{ kind: 'set', at: i % conversation.length, value: i & 255, length: 1 }]),
      );
      given.session.closed();
    }
  };
  run(2_000);
  const before = process.memoryUsage();
  run(20_000);
  const after = process.memoryUsage();
  expect(after.rss - before.rss).toBeLessThan(200 * 2 ** 20);
});
