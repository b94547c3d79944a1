import { describe, expect, test } from 'vitest';
import { frame, HELLO_ITEMS, keyValues, string, type WireValue } from '../test/proxy-side.ts';
import { FrameType, readFrame } from './frame.ts';
import { readHello } from './hello.ts';
import { readKeyValues } from './key-values.ts';
import { Status } from './status.ts';

const given = (changes: Record<string, WireValue>, ids = { streamId: 0, frameId: 0 }) => {
  const bytes = frame(FrameType.haproxyHello, keyValues({ ...HELLO_ITEMS, ...changes }), ids);
  return readFrame(bytes, 4, bytes.length);
};
const uint = (value: number): WireValue => ({ type: 'uint32', value: BigInt(value) });

describe('a hello', () => {
  test('says what HAProxy is; a list has blanks and empty parts', () => {
    const hello = readHello(
      given({ capabilities: string(' pipelining ,, async'), healthcheck: { type: 'boolean', value: true } }),
    );
    expect(hello).toEqual({
      maxFrameSize: 16_380,
      capabilities: ['pipelining', 'async'],
      engineId: '0b3f-engine',
      isHealthCheck: true,
    });
  });

  test('need not name its engine, and is a health check only where it says so', () => {
    expect(readHello(given({ 'engine-id': uint(7) }))).toMatchObject({ engineId: null, isHealthCheck: false });
    expect(readHello(given({ healthcheck: { type: 'boolean', value: false } }))).toMatchObject({
      isHealthCheck: false,
    });
    expect(readHello(given({ healthcheck: string('true') }))).toMatchObject({ isHealthCheck: false });
  });

  test.each<[string, WireValue, number]>([
    ['supported-versions', uint(2), Status.noVersion],
    ['supported-versions', string('12.0'), Status.unsupportedVersion],
    ['supported-versions', string('2.0.1'), Status.unsupportedVersion],
    ['supported-versions', string('2'), Status.unsupportedVersion],
    ['max-frame-size', string('16380'), Status.noMaxFrameSize],
    ['max-frame-size', uint(255), Status.badMaxFrameSize],
    ['capabilities', uint(1), Status.noCapabilities],
  ])('whose %s is something else is refused with its status', (name, value, status) => {
    expect(() => readHello(given({ [name]: value }))).toThrow(expect.objectContaining({ status }));
  });

  test('takes the smallest size of a frame that the protocol has', () => {
    expect(readHello(given({ 'max-frame-size': uint(256) })).maxFrameSize).toBe(256);
  });

  test.each([
    { streamId: 1, frameId: 0 },
    { streamId: 0, frameId: 1 },
  ])('belongs to no stream: %j', (ids) => {
    expect(() => readHello(given({}, ids))).toThrow(expect.objectContaining({ status: Status.invalidFrame }));
  });
});

test('of a list 32 items are read, the last of equal names counts, and only strings have a text', () => {
  const read = (payload: Buffer) => {
    const bytes = frame(FrameType.haproxyHello, payload);
    return readKeyValues(readFrame(bytes, 4, bytes.length).payload);
  };
  const many = Array.from({ length: 40 }, (_, at) => [`n${at}`, uint(at)] as const);
  expect([...read(keyValues(Object.fromEntries(many))).keys()]).toEqual(many.slice(0, 32).map(([name]) => name));
  expect([...read(Buffer.concat([keyValues({ a: uint(1), b: string('x') }), keyValues({ a: string('é') })]))]).toEqual([
    ['a', 'Ã©'],
    ['b', 'x'],
  ]);
  expect(read(keyValues({ a: { type: 'binary', bytes: Buffer.from('x') } })).get('a')).toBeNull();
});
