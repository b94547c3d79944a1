import { describe, expect, test } from 'vitest';
import { type GivenRequest, given } from '../../../test/support/given.ts';
import { compile } from '../../index.ts';

const { ruleSet } = compile([
  {
    path: 'x',
    text: `SecRuleEngine On
SecRule ARGS|REQUEST_HEADERS|REQUEST_COOKIES "@rx hunter(.)" "id:1,phase:1,pass,log,capture,msg:'[%{TX.1}] %{MATCHED_VAR}',logdata:'%{MATCHED_VAR}'"
SecRule REQUEST_URI "@contains hunter2" "id:4,phase:1,pass,log,logdata:'%{MATCHED_VAR}'"
SecAction "id:2,phase:1,pass,nolog,sanitiseArg:answer"
SecRule ARGS:answer "@rx ." "id:3,phase:1,pass,log,logdata:'%{MATCHED_VAR}'"`,
  },
]);

const shown = (request: GivenRequest) =>
  ruleSet!.inspect(given.request(request)).matches.map(({ variable, snippet, data }) => [variable, snippet, data]);

describe('secrets in a verdict', () => {
  test.each([
    [{ query: 'password=hunter2' }, 'ARGS:password'],
    [{ query: 'new_passwd=hunter2' }, 'ARGS:new_passwd'],
    [{ query: 'api-key=hunter2' }, 'ARGS:api-key'],
    [{ headers: { Authorization: 'Bearer hunter2' } }, 'REQUEST_HEADERS:Authorization'],
    [{ headers: { 'X-CSRF-Token': 'hunter2' } }, 'REQUEST_HEADERS:X-CSRF-Token'],
  ])('are masked by the name of the variable: %o', (request, variable) => {
    const matches = shown(request);
    expect(matches).toContainEqual([variable, '***', '***']);
    expect(JSON.stringify(matches)).not.toContain('hunter2');
  });

  test('are masked inside longer values', () => {
    expect(shown({ path: '/login', query: 'user=a&password=hunter2&x=1' })).toContainEqual([
      'REQUEST_URI',
      '/login?user=a&password=***&x=1',
      '/login?user=a&password=***&x=1',
    ]);
  });

  test('are masked where a rule asks for it', () => {
    expect(shown({ query: 'answer=blue' })).toEqual([['ARGS:answer', '***', '***']]);
  });

  test('other values are shown, bounded, with bytes that do not print as hexadecimal', () => {
    expect(shown({ query: `q=hunter2%00%0a%ff${'x'.repeat(200)}` })[0]).toEqual([
      'ARGS:q',
      `hunter2\\x00\\x0a\\xff${'x'.repeat(86)}…`,
      `hunter2\\x00\\x0a\\xff${'x'.repeat(200)}`,
    ]);
  });
});
