import { expect, test } from 'vitest';
import { createAckBatch } from './ack-batch.ts';
import { encodeActions, setVar, unsetVar } from './actions.ts';

test.each([
  ['proc', 0],
  ['sess', 1],
  ['txn', 2],
  ['req', 3],
  ['res', 4],
] as const)('a variable of %s is written as the protocol numbers it', (scope, number) => {
  // SET-VAR with 3 arguments, UNSET-VAR with 2 (doc/SPOE.txt 3.4).
  expect([...encodeActions([setVar(scope, 'a', true)]).bytes]).toEqual([1, 3, number, 1, 0x61, 0x11]);
  expect([...encodeActions([unsetVar(scope, 'a')]).bytes]).toEqual([2, 2, number, 1, 0x61]);
});

test.each(['', 'a b', 'a\n', 'a-b', 'ä', 'a'.repeat(256)])('%j is no name of a variable', (name) => {
  expect(() => encodeActions([unsetVar('txn', name)])).toThrow('not a variable name');
});

test('an answer as long as a frame may be goes out whole, a longer one without actions and with a reason', () => {
  const actions = [setVar('txn', 'a', 'b'.repeat(100))];
  const all = createAckBatch();
  expect(all.add(1, 2, actions, 65_536)).toBeUndefined();
  const whole = all.take();
  const length = whole.readUInt32BE(0);
  expect(whole).toHaveLength(4 + length);

  const batch = createAckBatch();
  expect(batch.add(1, 2, actions, length)).toBeUndefined();
  expect(batch.take()).toEqual(whole);
  expect(batch.add(1, 2, actions, length - 1)).toMatchObject({ message: 'actions exceed max-frame-size' });
  const bare = batch.take();
  expect(bare).toHaveLength(4 + bare.readUInt32BE(0));
  expect(bare.subarray(4)).toEqual(whole.subarray(4, bare.length));
  expect(bare).toHaveLength(11);
});
