import { describe, expect, test } from 'vitest';
import { compileExclusions, plainPath } from './exclusions.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

describe('the path that exclusions are compared with', () => {
  test.each([
    ['/', '/'],
    ['/api/notes?x=/../y', '/api/notes'],
    ['/api/%6eotes', '/api/notes'],
    ['/caf%C3%A9', '/café'],
    ['http://shop.test/api', '/api'],
    ['/a.b/..c', '/a.b/..c'],
  ])('of %s is %s', (uri, path) => {
    expect(plainPath(bytes(uri))).toBe(path);
  });

  test.each([
    '/api/../admin',
    '/api/%2e%2e/admin',
    '/api/%252e%252e/admin',
    '/api/..',
    '/api/./admin',
    '/api//admin',
    '/api\\..\\admin',
    '/api/%5c../admin',
    '/api%2f..%2fadmin',
    '/api;x=/../admin',
    '/api/%00',
    '*',
    '',
  ])('%s has none: applications do not agree about it', (uri) => {
    expect(plainPath(bytes(uri))).toBeUndefined();
  });
});

describe('exclusions', () => {
  const find = compileExclusions([
    { rule_id: 1, path: '/api' },
    { rule_id: 2, host_id: 7, target: 'ARGS:note' },
    { rule_id: 3, host_id: 7, path: '/api/notes/' },
  ]);
  const rules = (hostId: number, uri: string) => find(hostId, bytes(uri))?.map(({ ruleId }) => ruleId) ?? [];

  test('count for their host, their path and what lies below it, and for nothing else', () => {
    expect(rules(1, '/api')).toEqual([1]);
    expect(rules(1, '/api/x?y')).toEqual([1]);
    expect(rules(1, '/apix')).toEqual([]);
    expect(rules(7, '/')).toEqual([2]);
    expect(rules(7, '/api/notes/1')).toEqual([1, 2, 3]);
    expect(rules(7, '/api/notes')).toEqual([1, 2]);
    expect(rules(7, '/api/../admin')).toEqual([2]);
  });

  test('keep their target', () => {
    expect(find(7, bytes('/'))).toEqual([{ ruleId: 2, target: 'ARGS:note' }]);
  });
});
