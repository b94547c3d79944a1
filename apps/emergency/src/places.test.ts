import { beforeEach, expect, test } from 'vitest';
import { createPlaces, type Places } from './places.ts';

let enter: Places;
beforeEach(() => {
  enter = createPlaces({
    isManagement: (address) => address.startsWith('10.') || address.startsWith('fd00:'),
    most: { all: 6, perClient: 2, strangers: 3 },
  });
});

test('strangers can not take the places of whom the reset would open to', () => {
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) expect(enter(address)).toBeDefined();
  expect(enter('192.0.2.4')).toBeUndefined();
  expect(enter('10.0.0.1')).toBeDefined();
});

test('one client has its share, and one IPv6 network is one client', () => {
  for (const address of ['fd00::1', 'fd00::2']) expect(enter(address)).toBeDefined();
  expect(enter('fd00::3')).toBeUndefined();
  expect(enter('fd00:0:0:1::3')).toBeDefined();
});

test('who leaves makes room for the next', () => {
  const taken = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].flatMap((address) => [enter(address), enter(address)]);
  expect(enter('10.0.0.4')).toBeUndefined();
  taken[0]?.leave();
  expect(enter('10.0.0.2')).toBeUndefined();
  expect(enter('10.0.0.4')).toBeDefined();
  expect(enter('10.0.0.1')).toBeUndefined();
});

test('who leaves one place of two can have one again, and no more', () => {
  const [first] = [enter('10.0.0.1'), enter('10.0.0.1')];
  first?.leave();
  expect(enter('10.0.0.1')).toBeDefined();
  expect(enter('10.0.0.1')).toBeUndefined();
});
