import { expect, test } from 'vitest';
import { parseRule } from './rule.ts';

test('a rule says for which names it is, and what else is asked for', () => {
  expect(parseRule('Host(`A.test`, "b.test") || HostHeader(`c.test`)')).toEqual({
    ...{ names: ['a.test', 'b.test', 'c.test'], others: [] },
  });
  expect(parseRule('Host(`a.test`) && PathPrefix(`/x`)')).toEqual({ names: ['a.test'], others: ['PathPrefix(/x)'] });
});

test('what a rule is not for is no name of it', () => {
  expect(parseRule('!Host(`a.test`)')).toEqual({ names: undefined, others: ['not a.test'] });
  expect(parseRule('!(Host(`a.test`) && Path(`/x`))')).toEqual({ names: undefined, others: ['not a.test, Path(/x)'] });
  expect(parseRule('Host(`a.test`) && !Path(`/x`)')).toEqual({ names: ['a.test'], others: ['not Path(/x)'] });
});
