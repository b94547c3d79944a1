import { describe, expect, test } from 'vitest';
import { givenSession } from '../test/given-session.ts';
import { frame, hello, keyValues, messageList, notify, string, type WireMessage } from '../test/proxy-side.ts';
import { encodeActions, setVar, unsetVar } from './actions.ts';
import { FrameType } from './frame.ts';
import type { Actions, NotifyHandler } from './handler.ts';
import type { Message } from './messages.ts';

const allow: NotifyHandler = () => [setVar('txn', 'verdict', 'allow')];
const check: WireMessage[] = [{ name: 'check', args: [{ name: 'path', value: string('/a') }] }];
const ALLOWED = [{ type: 1, scope: 2, name: 'verdict', value: 'allow' }];

/** Promises that a test settles when it likes. */
const givenAsyncHandler = () => {
  const calls: { resolve(actions: Actions): void; reject(error: unknown): void }[] = [];
  const onNotify: NotifyHandler = () =>
    new Promise<Actions>((resolve, reject) => {
      calls.push({ resolve, reject });
    });
  return { calls, onNotify };
};

describe('hello', () => {
  test('is answered in one write with the smaller frame size and what is supported', () => {
    const given = givenSession(allow);
    given.session.receive(hello());
    expect(given.writes).toHaveLength(1);
    expect(given.frames()).toEqual([
      {
        type: 'hello',
        items: new Map<string, unknown>([
          ['version', '2.0'],
          ['max-frame-size', 16380],
          ['capabilities', 'pipelining'],
        ]),
      },
    ]);
    expect(given.session.connection).toMatchObject({ engineId: '0b3f-engine', maxFrameSize: 16380, isClosed: false });
  });

  test('answers the agent’s own frame size when that is the smaller', () => {
    const given = givenSession(allow, {}, 1000);
    given.session.receive(hello());
    expect(given.session.connection.maxFrameSize).toBe(1000);
  });

  test('announces fragmentation only when fragments are taken', () => {
    const given = givenSession(allow, { maxFragmentedSize: 10_000 });
    given.session.receive(hello());
    const [first] = given.frames();
    expect(first?.type === 'hello' && first.items.get('capabilities')).toBe('pipelining,fragmentation');
  });

  test('of a health check is answered and the connection ended', () => {
    const given = givenSession(allow);
    given.session.receive(hello({ healthcheck: { type: 'boolean', value: true } }));
    expect(given.frames()).toMatchObject([{ type: 'hello' }]);
    expect(given.transport.isEnded).toBe(true);
    expect(given.counters.healthChecks).toBe(1);
    expect(given.ends).toEqual([]);
  });

  test.each([
    ['no version', { 'supported-versions': { type: 'null' } as const }, 5],
    ['another major version', { 'supported-versions': string('1.0, 3.0') }, 8],
    ['no frame size', { 'max-frame-size': { type: 'null' } as const }, 6],
    ['a tiny frame size', { 'max-frame-size': { type: 'uint32', value: 255n } as const }, 9],
    ['no capabilities', { capabilities: { type: 'null' } as const }, 7],
  ])('with %s is refused with its status', (_, changes, status) => {
    const given = givenSession(allow);
    given.session.receive(hello(changes));
    expect(given.frames()).toMatchObject([{ type: 'disconnect', status }]);
    expect(given.transport.isEnded).toBe(true);
    expect(given.ends).toMatchObject([{ by: 'agent', status }]);
  });

  test('takes any 2.x among the supported versions', () => {
    const given = givenSession(allow);
    given.session.receive(hello({ 'supported-versions': string(' 1.5 , 2.1') }));
    expect(given.frames()).toMatchObject([{ type: 'hello' }]);
  });

  test('must come first, come once, and come whole', () => {
    for (const [bytes, status] of [
      [notify(1, 1, check), 4],
      [Buffer.concat([hello(), hello()]), 4],
      [hello({}, 0), 10],
    ] as const) {
      const given = givenSession(allow);
      given.session.receive(bytes);
      expect(given.frames().at(-1)).toMatchObject({ type: 'disconnect', status });
    }
  });
});

describe('NOTIFY', () => {
  test('reaches the handler with every argument and its answer goes back with the same ids', () => {
    let seen: readonly Message[] = [];
    const given = givenSession((messages) => {
      seen = messages;
      return [
        setVar('sess', 'score', -7),
        setVar('req', 'big', 2n ** 62n),
        unsetVar('res', 'old'),
        setVar('proc', 'on', true),
      ];
    });
    given.session.receive(hello());
    given.session.receive(
      notify(70_000, 5, [
        {
          name: 'first',
          args: [
            { name: 'ip', value: { type: 'ipv4', bytes: Uint8Array.of(192, 0, 2, 7) } },
            { name: 'ip6', value: { type: 'ipv6', bytes: Buffer.from('20010db8000000000000000000000001', 'hex') } },
            { name: 'n', value: { type: 'int64', value: -3n } },
            { name: 'tls', value: { type: 'boolean', value: true } },
            { name: 'none', value: { type: 'null' } },
            { name: '', value: { type: 'binary', bytes: Uint8Array.of(0, 255) } },
          ],
        },
        { name: 'second', args: [{ name: 'path', value: string('/caf\u00e9') }] },
      ]),
    );
    const [first, second] = seen;
    expect(first?.name).toBe('first');
    expect(first?.args.map(({ name, type }) => [name, type])).toEqual([
      ['ip', 'ipv4'],
      ['ip6', 'ipv6'],
      ['n', 'int64'],
      ['tls', 'boolean'],
      ['none', 'null'],
      ['', 'binary'],
    ]);
    expect(first?.get('ip')?.address).toBe('192.0.2.7');
    expect(first?.get('ip6')?.address).toBe('2001:db8:0:0:0:0:0:1');
    expect(first?.get('n')?.scalar).toBe(-3);
    expect(first?.get('tls')?.scalar).toBe(true);
    expect(first?.get('none')).toMatchObject({ isNull: true, scalar: null });
    expect([...(first?.get('')?.bytes ?? [])]).toEqual([0, 255]);
    expect(second?.get('path')?.text('utf8')).toBe('/caf\u00e9');
    expect(second?.get('path')?.text()).toBe('/caf\u00c3\u00a9');
    expect(first?.get('unknown')).toBeUndefined();
    expect(given.frames().at(-1)).toEqual({
      type: 'ack',
      streamId: 70_000,
      frameId: 5,
      flags: 1,
      actions: [
        { type: 1, scope: 1, name: 'score', value: -7 },
        { type: 1, scope: 3, name: 'big', value: 2n ** 62n },
        { type: 2, scope: 4, name: 'old' },
        { type: 1, scope: 0, name: 'on', value: true },
      ],
    });
  });

  test('arguments are views of what was received, not copies', () => {
    const chunk = notify(1, 1, check);
    const given = givenSession((messages) => {
      expect(messages[0]?.args[0]?.bytes.buffer).toBe(chunk.buffer);
      return [];
    });
    given.session.receive(hello());
    given.session.receive(chunk);
    expect(given.failures).toEqual([]);
    expect(given.counters.acks).toBe(1);
  });

  test('may have as many messages and arguments as the limits say', () => {
    const given = givenSession((messages) => [
      setVar(
        'txn',
        'n',
        messages.reduce((sum, { args }) => sum + args.length, 0),
      ),
    ]);
    const message = { name: 'm', args: Array.from({ length: 64 }, () => ({ name: 'a', value: string('') })) };
    given.session.receive(
      Buffer.concat([
        hello(),
        notify(
          1,
          1,
          Array.from({ length: 16 }, () => message),
        ),
      ]),
    );
    expect(given.frames()[1]).toMatchObject({ type: 'ack', actions: [{ name: 'n', value: 1_024 }] });
  });

  test('a thousand in one chunk are answered in order with one write', () => {
    const answerOnce = encodeActions([setVar('txn', 'verdict', 'allow')]);
    const given = givenSession(() => answerOnce);
    given.session.receive(hello());
    given.session.receive(Buffer.concat(Array.from({ length: 1000 }, (_, i) => notify(i + 1, 1, check))));
    const acks = given.frames().slice(1);
    expect(acks).toEqual(
      Array.from({ length: 1000 }, (_, i) => ({
        type: 'ack',
        streamId: i + 1,
        frameId: 1,
        flags: 1,
        actions: ALLOWED,
      })),
    );
    expect(given.writes).toHaveLength(2);
  });

  test('does not wait for the long judgements of those behind it', () => {
    const given = givenSession(() => {
      given.exact.now += 1.5;
      return [];
    });
    given.session.receive(Buffer.concat([hello(), ...[1, 2, 3].map((id) => notify(id, 1, check))]));
    expect(given.writes).toHaveLength(4);
  });

  test('and once they are out the next ones wait for each other again', () => {
    const lengths = [1.5, 0.25, 0.25];
    const given = givenSession(() => {
      given.exact.now += lengths.shift()!;
      return [];
    });
    given.session.receive(Buffer.concat([hello(), ...[1, 2, 3].map((id) => notify(id, 1, check))]));
    expect(given.writes).toHaveLength(3);
  });

  test('what is to be on record before HAProxy has the answers is told once for each write', () => {
    const given = givenSession(allow);
    given.session.receive(hello());
    expect(given.answering).toEqual([]);
    given.session.receive(Buffer.concat([notify(1, 1, check), notify(2, 1, check)]));
    given.session.receive(notify(3, 1, check));
    // The hello was the first write; each of these came before the next.
    expect(given.answering).toEqual([1, 2]);
    expect(given.writes).toHaveLength(3);
  });

  test('however the bytes are cut, the answers are the same', () => {
    const stream = Buffer.concat([hello(), ...Array.from({ length: 6 }, (_, i) => notify(i + 300, i, check))]);
    const whole = givenSession(allow);
    whole.session.receive(stream);
    for (let size = 1; size < stream.length; size++) {
      const given = givenSession(allow);
      for (let at = 0; at < stream.length; at += size) given.session.receive(stream.subarray(at, at + size));
      expect(given.frames(), `chunks of ${size}`).toEqual(whole.frames());
    }
  });

  test('is answered with no actions when the handler throws, and the error is reported', () => {
    const given = givenSession(() => {
      throw new Error('rule engine broke');
    });
    given.session.receive(Buffer.concat([hello(), notify(1, 1, check), notify(2, 1, check)]));
    expect(given.frames().slice(1)).toMatchObject([
      { streamId: 1, actions: [] },
      { streamId: 2, actions: [] },
    ]);
    expect(given.failures).toMatchObject([{ message: 'rule engine broke' }, { message: 'rule engine broke' }]);
  });

  test.each<[string, () => unknown, string]>([
    ['nothing', () => undefined, 'not iterable'],
    ['an impossible name', () => [setVar('txn', 'ok', 1), setVar('txn', 'a b', 1)], 'variable name'],
    ['a fraction', () => [setVar('txn', 'x', 0.5)], 'integers only'],
    ['more than fits in a frame', () => [setVar('txn', 'x', 'y'.repeat(20_000))], 'max-frame-size'],
  ])('is answered with no actions when the handler gives %s', (_, give, message) => {
    const given = givenSession(give as NotifyHandler);
    given.session.receive(Buffer.concat([hello(), notify(1, 1, check)]));
    expect(given.frames()[1]).toMatchObject({ type: 'ack', streamId: 1, actions: [] });
    expect(String(given.failures[0])).toContain(message);
  });
});

describe('an asynchronous handler', () => {
  test('is answered when it settles, in that order, and together when in the same turn', async () => {
    const { calls, onNotify } = givenAsyncHandler();
    const given = givenSession(onNotify);
    given.session.receive(Buffer.concat([hello(), notify(1, 1, check), notify(2, 1, check), notify(3, 1, check)]));
    expect(given.counters.outstanding).toBe(3);
    calls[2]?.resolve([]);
    calls[0]?.resolve([setVar('txn', 'verdict', 'allow')]);
    await given.turn();
    expect(given.writes).toHaveLength(2);
    expect(given.frames().slice(1)).toMatchObject([
      { streamId: 3, actions: [] },
      { streamId: 1, actions: ALLOWED },
    ]);
    calls[1]?.reject(new Error('lookup failed'));
    await given.turn();
    expect(given.frames().at(-1)).toMatchObject({ streamId: 2, actions: [] });
    expect(given.failures).toMatchObject([{ message: 'lookup failed' }]);
    expect(given.counters.outstanding).toBe(0);
  });

  test('holds reading back at its limit and goes on after', async () => {
    const { calls, onNotify } = givenAsyncHandler();
    const given = givenSession(onNotify, { maxOutstandingPerConnection: 2 });
    given.session.receive(Buffer.concat([hello(), ...[1, 2, 3, 4, 5].map((id) => notify(id, 1, check))]));
    expect(calls).toHaveLength(2);
    expect(given.transport.isPaused).toBe(true);
    for (let answered = 0; answered < 5; answered++) {
      calls[answered]?.resolve([]);
      await given.turn();
    }
    expect(calls).toHaveLength(5);
    expect(given.transport.isPaused).toBe(false);
    expect(
      given
        .frames()
        .slice(1)
        .map((ack) => ack.type === 'ack' && ack.streamId),
    ).toEqual([1, 2, 3, 4, 5]);
  });

  test('past the limit of the agent a NOTIFY gets no actions at once', async () => {
    const { calls, onNotify } = givenAsyncHandler();
    const given = givenSession(onNotify, { maxOutstanding: 2 });
    given.session.receive(Buffer.concat([hello(), ...[1, 2, 3].map((id) => notify(id, 1, check))]));
    expect(given.frames().slice(1)).toMatchObject([{ streamId: 3, actions: [] }]);
    expect(given.counters.shed).toBe(1);
    expect(calls).toHaveLength(2);
  });

  test('that never settles is answered with no actions in time, and its late answer is dropped', async () => {
    const { calls, onNotify } = givenAsyncHandler();
    const given = givenSession(onNotify, { handlerTimeoutMs: 1000 });
    given.session.receive(Buffer.concat([hello(), notify(1, 1, check)]));
    given.session.sweep(999);
    await given.turn();
    expect(given.counters.acks).toBe(0);
    given.session.sweep(1000);
    calls[0]?.resolve([setVar('txn', 'verdict', 'allow')]);
    await given.turn();
    expect(given.frames().slice(1)).toMatchObject([{ streamId: 1, actions: [] }]);
    expect(given.failures).toMatchObject([{ message: 'handler took too long' }]);
  });

  test('that fails after it was given up, or after the connection has gone, is not told again', async () => {
    const { calls, onNotify } = givenAsyncHandler();
    const given = givenSession(onNotify, { handlerTimeoutMs: 1000 });
    given.session.receive(Buffer.concat([hello(), notify(1, 1, check)]));
    given.session.sweep(1000);
    calls[0]?.reject(new Error('late'));
    await given.turn();
    given.session.receive(notify(2, 1, check));
    given.session.closed();
    calls[1]?.reject(new Error('later'));
    await given.turn();
    expect(given.failures).toMatchObject([{ message: 'handler took too long' }]);
    expect(given.counters).toMatchObject({ acks: 1, handlerErrors: 1, outstanding: 0 });
  });

  test('is not answered any more after the connection has gone', async () => {
    const { calls, onNotify } = givenAsyncHandler();
    const given = givenSession(onNotify);
    given.session.receive(Buffer.concat([hello(), notify(1, 1, check)]));
    given.session.closed(new Error('read ECONNRESET'));
    expect(given.session.connection.isClosed).toBe(true);
    expect(given.counters.outstanding).toBe(0);
    calls[0]?.resolve([setVar('txn', 'verdict', 'allow')]);
    await given.turn();
    expect(given.writes).toHaveLength(1);
    expect(given.ends).toEqual([{ by: 'network', status: 1, message: 'read ECONNRESET' }]);
  });
});

describe('disconnects with the right status', () => {
  const length = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  const unnamed = Buffer.from([0, 0]);
  test.each<[string, Buffer, number]>([
    ['a frame over the size agreed', length(16_381), 3],
    ['a frame that claims 4 GiB', length(0xffff_ffff), 3],
    ['a frame too short to be one', Buffer.concat([length(6), Buffer.alloc(6)]), 4],
    ['a type of the agent’s', frame(FrameType.ack, Buffer.alloc(0), { streamId: 1, frameId: 1 }), 4],
    ['an unknown type', frame(77, Buffer.alloc(0)), 4],
    ['a message without a name', frame(FrameType.notify, unnamed, { streamId: 1, frameId: 1 }), 4],
    [
      'a message cut short',
      frame(FrameType.notify, messageList(check).subarray(0, -1), { streamId: 1, frameId: 1 }),
      4,
    ],
    [
      'too many messages',
      notify(
        1,
        1,
        Array.from({ length: 17 }, () => ({ name: 'm', args: [] })),
      ),
      4,
    ],
    [
      'too many arguments',
      notify(1, 1, [{ name: 'm', args: Array.from({ length: 65 }, () => ({ name: 'a', value: string('') })) }]),
      4,
    ],
    ['a fragment', frame(FrameType.notify, messageList(check), { streamId: 1, frameId: 1 }, 0), 10],
    [
      'a fragmented disconnect',
      frame(FrameType.haproxyDisconnect, Buffer.alloc(0), { streamId: 0, frameId: 0 }, 0),
      10,
    ],
    ['a fragment without a beginning', frame(FrameType.unset, Buffer.alloc(0), { streamId: 1, frameId: 1 }), 12],
  ])('on %s', (_, bytes, status) => {
    const given = givenSession(allow);
    given.session.receive(Buffer.concat([hello(), notify(9, 9, check), bytes, notify(10, 10, check)]));
    // What came before is answered; nothing after the bad frame is.
    expect(given.frames().slice(1)).toMatchObject([
      { type: 'ack', streamId: 9, actions: ALLOWED },
      { type: 'disconnect', status },
    ]);
    expect(given.transport.isEnded).toBe(true);
    const { notifies } = given.counters;
    given.session.receive(notify(11, 11, check));
    expect(given.counters).toMatchObject({ notifies, acks: 1, protocolErrors: 1 });
    expect(given.frames()).toHaveLength(3);
  });

  test('answers HAProxy’s own disconnect and reports its reason', () => {
    const given = givenSession(allow);
    const reason = keyValues({ 'status-code': { type: 'uint32', value: 2n }, message: string('a timeout occurred') });
    given.session.receive(Buffer.concat([hello(), frame(FrameType.haproxyDisconnect, reason)]));
    expect(given.frames().slice(1)).toEqual([{ type: 'disconnect', status: 0, message: 'normal' }]);
    expect(given.ends).toEqual([{ by: 'haproxy', status: 2, message: 'a timeout occurred' }]);
  });
});

describe('fragments', () => {
  const payload = messageList([
    { name: 'check', args: [{ name: 'body', value: { type: 'binary', bytes: Buffer.alloc(900, 'b') } }] },
  ]);
  const ids = { streamId: 4, frameId: 2 };
  const part = (index: number, flags: number) =>
    frame(
      index === 0 ? FrameType.notify : FrameType.unset,
      payload.subarray(index * 400, (index + 1) * 400),
      ids,
      flags,
    );
  const given = (maxFragmentedSize = 4000) => {
    const session = givenSession((messages) => [setVar('txn', 'size', messages[0]?.get('body')?.bytes.length ?? -1)], {
      maxFragmentedSize,
    });
    session.session.receive(hello());
    return session;
  };

  test('are put together', () => {
    const { session, frames } = given();
    for (const bytes of [part(0, 0), part(1, 0), part(2, 1)]) session.receive(bytes);
    expect(frames()[1]).toMatchObject({ type: 'ack', ...ids, actions: [{ name: 'size', value: 900 }] });
  });

  test('that HAProxy aborts are forgotten without an answer', () => {
    const { session, frames } = given();
    for (const bytes of [part(0, 0), part(1, 0), frame(FrameType.unset, Buffer.alloc(0), ids, 3)])
      session.receive(bytes);
    session.receive(notify(5, 1, check));
    expect(frames().slice(1)).toMatchObject([{ type: 'ack', streamId: 5 }]);
  });

  test('beyond the limit are refused with an abort, and the rest of them skipped', () => {
    const { session, frames, counters } = given(500);
    for (const bytes of [part(0, 0), part(1, 0), part(2, 1), notify(5, 1, check)]) session.receive(bytes);
    expect(frames().slice(1)).toMatchObject([
      { type: 'ack', ...ids, flags: 3, actions: [] },
      { type: 'ack', streamId: 5, flags: 1 },
    ]);
    expect(counters.shed).toBe(1);
  });

  test('are skipped to the end of what was refused, and no further', () => {
    const { session, frames } = given(500);
    for (const bytes of [part(0, 0), part(1, 0), part(2, 1), part(2, 1)]) session.receive(bytes);
    expect(frames().slice(1)).toMatchObject([
      { type: 'ack', ...ids, flags: 3 },
      { type: 'disconnect', status: 12 },
    ]);
  });

  test('that come after their payload was refused whole belong to nothing', () => {
    const { session, frames } = given(700);
    for (const bytes of [part(0, 0), part(1, 1), part(2, 1)]) session.receive(bytes);
    expect(frames().slice(1)).toMatchObject([
      { type: 'ack', ...ids, flags: 3 },
      { type: 'disconnect', status: 12 },
    ]);
  });

  test('must all come in the time for a frame', () => {
    const { session, clock, frames } = given();
    session.receive(part(0, 0));
    clock.now = 4000;
    session.receive(part(1, 0));
    session.sweep(4999);
    expect(frames()).toHaveLength(1);
    session.sweep(5000);
    expect(frames()[1]).toMatchObject({ type: 'disconnect', status: 2 });
  });

  test('that are empty can’t pile up', () => {
    const { session, frames } = given(1000);
    session.receive(part(0, 0));
    for (let i = 0; i < 20; i++) session.receive(frame(FrameType.unset, Buffer.alloc(0), ids, 0));
    expect(frames()[1]).toMatchObject({ type: 'ack', ...ids, flags: 3 });
  });

  test.each([
    ['another NOTIFY', notify(5, 1, check)],
    ['a fragment of another', frame(FrameType.unset, Buffer.alloc(1), { streamId: 5, frameId: 1 }, 0)],
    ['a second beginning', part(0, 0)],
  ])('are not mixed with %s', (_, bytes) => {
    const { session, frames } = given();
    session.receive(part(0, 0));
    session.receive(bytes);
    expect(frames()[1]).toMatchObject({ type: 'disconnect', status: 11 });
  });
});

describe('time', () => {
  test('a connection without a hello is given up', () => {
    const given = givenSession(allow, { frameTimeoutMs: 100 });
    given.session.receive(hello().subarray(0, 20));
    given.session.sweep(99);
    expect(given.writes).toEqual([]);
    given.session.sweep(100);
    expect(given.frames()).toMatchObject([{ type: 'disconnect', status: 2 }]);
  });

  test('a frame that does not arrive whole is given up, one after others counts anew', () => {
    const given = givenSession(allow, { frameTimeoutMs: 100 });
    given.session.receive(hello());
    const bytes = notify(1, 1, check);
    given.clock.now = 50;
    given.session.receive(bytes.subarray(0, 3));
    given.clock.now = 120;
    given.session.receive(Buffer.concat([bytes.subarray(3), bytes.subarray(0, 10)]));
    given.session.sweep(160);
    expect(given.frames()).toHaveLength(2);
    given.clock.now = 200;
    given.session.receive(bytes.subarray(10, 11));
    given.session.sweep(220);
    expect(given.frames().at(-1)).toMatchObject({ type: 'disconnect', status: 2 });
  });

  test('a frame that waits because the agent does not read is not late', async () => {
    const { calls, onNotify } = givenAsyncHandler();
    const given = givenSession(onNotify, { frameTimeoutMs: 100, maxOutstandingPerConnection: 1 });
    const bytes = notify(2, 1, check);
    given.session.receive(Buffer.concat([hello(), notify(1, 1, check), bytes.subarray(0, 9)]));
    given.clock.now = 500;
    given.session.sweep(500);
    expect(given.transport.isEnded).toBe(false);
    calls[0]?.resolve([]);
    await given.turn();
    given.session.sweep(599);
    expect(given.transport.isEnded).toBe(false);
    given.session.sweep(600);
    expect(given.frames().at(-1)).toMatchObject({ type: 'disconnect', status: 2 });
  });

  test('a quiet connection is closed without blame, and cut off when HAProxy does not close', () => {
    const given = givenSession(allow, { idleTimeoutMs: 1000, lingerTimeoutMs: 50 });
    given.session.receive(hello());
    given.clock.now = 1000;
    given.session.sweep(1000);
    expect(given.frames().at(-1)).toMatchObject({ type: 'disconnect', status: 0, message: 'idle' });
    given.session.sweep(1049);
    expect(given.transport.isDestroyed).toBe(false);
    given.session.sweep(1050);
    expect(given.transport.isDestroyed).toBe(true);
  });

  test('a peer that does not read its answers is held back, then given up', () => {
    const given = givenSession(allow, { frameTimeoutMs: 100 });
    given.session.receive(hello());
    given.transport.takesMore = false;
    given.session.receive(notify(1, 1, check));
    expect(given.transport.isPaused).toBe(true);
    given.session.receive(notify(2, 1, check));
    expect(given.counters.notifies).toBe(1);
    given.transport.takesMore = true;
    given.session.drained();
    expect(given.counters.notifies).toBe(2);
    expect(given.transport.isPaused).toBe(false);
    given.transport.takesMore = false;
    given.session.receive(notify(3, 1, check));
    given.session.sweep(100);
    expect(given.ends).toMatchObject([{ by: 'agent', status: 2 }]);
  });
});

describe('drain', () => {
  test('disconnects a connection on which nothing came since the last call', () => {
    const given = givenSession(allow);
    given.session.receive(hello());
    given.session.drain(false);
    given.session.receive(notify(1, 1, check));
    given.session.drain(false);
    expect(given.transport.isEnded).toBe(false);
    given.session.drain(false);
    expect(given.frames().slice(1)).toMatchObject([
      { type: 'ack', streamId: 1 },
      { type: 'disconnect', status: 0 },
    ]);
  });

  test('first answers what was received', async () => {
    const { calls, onNotify } = givenAsyncHandler();
    const given = givenSession(onNotify);
    given.session.receive(Buffer.concat([hello(), notify(1, 1, check), notify(2, 1, check)]));
    given.session.drain(true);
    calls[1]?.resolve([]);
    await given.turn();
    expect(given.transport.isEnded).toBe(false);
    calls[0]?.resolve([setVar('txn', 'verdict', 'allow')]);
    await given.turn();
    expect(given.frames().slice(1)).toMatchObject([
      { type: 'ack', streamId: 2 },
      { type: 'ack', streamId: 1, actions: ALLOWED },
      { type: 'disconnect', status: 0 },
    ]);
  });

  test('waits for a frame that has begun to arrive', () => {
    const given = givenSession(allow);
    const bytes = notify(1, 1, check);
    given.session.receive(Buffer.concat([hello(), bytes.subarray(0, 9)]));
    given.session.drain(true);
    expect(given.transport.isEnded).toBe(false);
    given.session.receive(bytes.subarray(9));
    expect(given.frames().slice(1)).toMatchObject([
      { type: 'ack', streamId: 1 },
      { type: 'disconnect', status: 0 },
    ]);
  });
});
