import { expect, test } from 'vitest';
import { frame, keyValues, readAgentFrames, string, type WireValue } from '../test/proxy-side.ts';
import { encodeDisconnect, readDisconnect } from './disconnect.ts';
import { FrameType, readFrame } from './frame.ts';

test.each([
  ['normal', 'normal'],
  ['tail é\n\0 end', 'tail ??? end'],
  ['x'.repeat(300), 'x'.repeat(255)],
  ['é'.repeat(300), '?'.repeat(255)],
  ['', ''],
])('the reason %j goes out as ASCII that HAProxy takes', (message, expected) => {
  expect(readAgentFrames(encodeDisconnect({ status: 13, message }))).toEqual({
    frames: [{ type: 'disconnect', status: 13, message: expected }],
    rest: Buffer.alloc(0),
  });
});

test.each<[string, Record<string, WireValue>, number, string]>([
  ['reason', { 'status-code': { type: 'uint32', value: 2n }, message: string('late') }, 2, 'late'],
  ['status alone', { 'status-code': { type: 'uint32', value: 2n } }, 2, ''],
  ['message alone', { message: string('y'.repeat(300)) }, 99, 'y'.repeat(255)],
  ['reason of other types', { 'status-code': string('2'), message: { type: 'uint32', value: 1n } }, 99, ''],
])('HAProxy’s %s is read', (_, items, status, message) => {
  const bytes = frame(FrameType.haproxyDisconnect, keyValues(items));
  expect(readDisconnect(readFrame(bytes, 4, bytes.length))).toEqual({ status, message });
});
