import { expect, test } from 'vitest';
import { guardBlock } from '../../../testing/guard-line.ts';
import type { SecurityEvent } from '../logs/security-event.ts';
import { suggestExclusions } from './suggest-exclusions.ts';

const HOST = '11111111-1111-4111-8111-111111111111';
const suggest = (fields: object, host: string | null = HOST) =>
  suggestExclusions(guardBlock({ reference: 'r', ...fields }) as object as SecurityEvent, host);
const match = (rule_id: number, variable = 'ARGS:q', message = '') => ({
  ...{ rule_id, variable, message },
  ...{ value: '', severity: null },
});

test('names the rule, the target, the host and the path, and nothing that is unknown', () => {
  const description = 'Request r: SQL Injection Attack Detected via libinjection';
  expect(suggest({})).toEqual([{ rule_id: 942100, target: 'ARGS:q', host_uuid: HOST, path: '/search', description }]);
  expect(suggest({ request_uri: '*' }, null)).toEqual([{ rule_id: 942100, target: 'ARGS:q', description }]);
  expect(suggest({ layer: 'acl' })).toEqual([]);
});

test('a path is without its query, of a whole address as well, and not too long', () => {
  const pathOf = (request_uri: string) => suggest({ request_uri })[0]?.path;
  expect(pathOf('/a/b?c=/d#e')).toBe('/a/b');
  expect(pathOf('/a#b')).toBe('/a');
  expect(pathOf('HTTPS://app.example.com:8443/a?b')).toBe('/a');
  expect(pathOf('http://app.example.com')).toBeUndefined();
  expect(pathOf('x/a')).toBeUndefined();
  expect(pathOf(`/${'a'.repeat(1_023)}`)).toHaveLength(1_024);
  expect(pathOf(`/${'a'.repeat(1_024)}`)).toBeUndefined();
});

test('one each of rule and target, twenty at most, and none of what has no rule', () => {
  const twice = suggest({ matches: [match(1), match(1), match(1, 'ARGS:p'), match(2), match(0)] });
  expect(twice.map(({ rule_id, target }) => [rule_id, target])).toEqual([
    [1, 'ARGS:q'],
    [1, 'ARGS:p'],
    [2, 'ARGS:q'],
  ]);
  expect(suggest({ matches: Array.from({ length: 30 }, (_, index) => match(index + 1)) })).toHaveLength(20);
  expect(suggest({ matches: [match(1, 'ARGS:q', 'x'.repeat(2_000))] })[0]?.description).toHaveLength(1_024);
});
