import type { LogEntry } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { createLogHub } from './hub.ts';
import { maskEntry } from './mask-entry.ts';

const entry = (more: Partial<LogEntry> = {}): LogEntry => ({
  ...{ level: 'warn', message: 'refused', timestamp: '2026-11-20T12:00:00.000Z', source: 'waf', fields: {} },
  ...more,
});

test('a standard user sees neither the query of a request nor what the visitor’s program calls itself', () => {
  const fields = { ip: '192.0.2.1', request_uri: '/a?token=secret?b', user_agent: 'me', status: 403 };
  expect(maskEntry(entry({ fields }))).toEqual(entry({ fields: { ip: '192.0.2.1', status: 403, request_uri: '/a' } }));
  expect(maskEntry(entry({ fields: { request_uri: 7, user_agent: null } })).fields).toEqual({});
});

test('the last entries are remembered in their order, and readers get what they asked for from then on', () => {
  const hub = createLogHub(3);
  const seen: string[] = [];
  const leave = hub.subscribe({ level: 'warn', source: 'waf' }, ({ message }) => seen.push(message));
  expect(hub.readers()).toBe(1);
  for (const [message, more] of [
    ['a', {}],
    ['b', { level: 'info' }],
    ['c', { source: 'acl' }],
    ['d', { level: 'error' }],
    ['e', {}],
  ] as [string, Partial<LogEntry>][]) {
    hub.publish(entry({ message, ...more }));
  }
  leave();
  hub.publish(entry({ message: 'f' }));
  expect([seen, hub.readers()]).toEqual([['a', 'd', 'e'], 0]);
  const recent = (count: number, filter = {}) => hub.recent(filter, count).map(({ message }) => message);
  expect([recent(9), recent(2), recent(0), recent(9, { level: 'error' })]).toEqual([
    ['d', 'e', 'f'],
    ['e', 'f'],
    [],
    ['d'],
  ]);
});
