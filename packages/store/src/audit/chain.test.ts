import { expect, test } from 'vitest';
import { type AuditRecord, GENESIS, hashEnd, hashEntry, isSameHash } from './chain.ts';

const entry: AuditRecord = {
  id: 7,
  timestamp: '2026-03-01T12:00:00.000Z',
  action: 'setting.set',
  actor: 'admin@example.com',
  ip: '192.0.2.7',
  user_agent: 'agent',
  method: 'POST',
  path: '/api/v1/settings',
  resource: 'settings/smtp.host',
  details: '{}',
};

test('a hash covers the key, the hash before, and every field', () => {
  const hash = hashEntry('key', GENESIS, entry);
  expect(hashEntry('key', GENESIS, { ...entry })).toBe(hash);
  const others = Object.keys(entry).map((name) =>
    hashEntry('key', GENESIS, { ...entry, [name]: name === 'id' ? 8 : 'x' }),
  );
  others.push(hashEntry('another', GENESIS, entry), hashEntry('key', '1'.repeat(64), entry));
  // What moves from one field to the next is seen, too.
  others.push(hashEntry('key', GENESIS, { ...entry, method: 'POST/api', path: '/v1/settings' }));
  expect(new Set([hash, ...others]).size).toBe(others.length + 1);
});

test('chains of earlier versions still fit', () => {
  expect(GENESIS).toMatch(/^0{64}$/);
  expect(hashEntry('key', GENESIS, entry)).toBe('f9893dc025a63da7f947155ea1020bb40fceb45d2ad3a19f075d57359e65c58b');
  expect(hashEnd('key', 'head', 7, GENESIS)).toBe('f4af1cd38e4b97acc52c3051c1928ae4a482c010039c07fbc0a803add3d7294a');
});

test('an end is vouched for as the end it is', () => {
  const mark = hashEnd('key', 'head', 7, 'a');
  const others = [
    hashEnd('key', 'anchor', 7, 'a'),
    hashEnd('another', 'head', 7, 'a'),
    hashEnd('key', 'head', 8, 'a'),
    hashEnd('key', 'head', 7, 'b'),
  ];
  expect(new Set([mark, ...others]).size).toBe(5);
});

test('hashes are the same when every letter is', () => {
  expect(isSameHash('ab', 'ab')).toBe(true);
  expect(isSameHash('ab', 'ac')).toBe(false);
  expect(isSameHash('ab', '')).toBe(false);
  expect(isSameHash('', 'ab')).toBe(false);
  expect(isSameHash('ab', 'abc')).toBe(false);
});
