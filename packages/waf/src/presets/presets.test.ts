import { describe, expect, test } from 'vitest';
import { given } from '../../test/support/given.ts';
import { compileProgram } from '../engine/compile.ts';
import { foldConstants } from '../engine/scan/fold-constants.ts';
import { baselineRules, compile, crsPolicy, crsSettings, exclusionRules, ownRules } from '../index.ts';

const rules = {
  path: 'rules',
  text: `SecRule ARGS "@contains evil" "id:1,phase:2,deny,status:403,log,msg:'evil'"\n`,
};
const evil = { query: 'comment=evil', headers: { Host: 'shop.example:8443' } };

const judge = (exclusions: Parameters<typeof exclusionRules>[0], request: Parameters<typeof given.request>[0]) => {
  const { before, after } = exclusionRules(exclusions);
  const { ruleSet, diagnostics } = compile([baselineRules, before, rules, after]);
  expect(diagnostics).toEqual([]);
  return ruleSet!.inspect(given.request(request)).action;
};

describe('exclusions', () => {
  test('leave out a rule everywhere', () => {
    expect(judge([], evil)).toBe('block');
    expect(judge([{ rule_id: 1 }], evil)).toBe('pass');
  });

  test('leave out one target and keep the others', () => {
    const exclusion = { rule_id: 1, target: 'ARGS:comment' };
    expect(judge([exclusion], evil)).toBe('pass');
    expect(judge([exclusion], { query: 'title=evil' })).toBe('block');
  });

  test('hold for their host only, whatever the port and case of the header', () => {
    const exclusion = { rule_id: 1, target: 'ARGS:comment', host: 'Shop.example' };
    expect(judge([exclusion], evil)).toBe('pass');
    expect(judge([exclusion], { ...evil, headers: { Host: 'other.example' } })).toBe('block');
  });

  test('hold below their path only, and dots do not lead around it', () => {
    const exclusion = { rule_id: 1, path: '/api/v1.0' };
    const at = (path: string) => judge([exclusion], { path, query: 'comment=evil' });
    expect(['/api/v1.0', '/api/v1.0/items', '/api/x/../v1.0/'].map(at)).toEqual(['pass', 'pass', 'pass']);
    expect(['/api/v1x0', '/api/v1.00', '/api/v1.0/../admin', '/api/v1.0/%2e%2e/admin'].map(at)).toEqual(
      Array(4).fill('block'),
    );
  });

  test('end when they expire', () => {
    const exclusion = { rule_id: 1, host: 'shop.example', expires_at: '2026-03-01T00:00:00Z' };
    expect(judge([exclusion], { ...evil, now: Date.UTC(2026, 1, 28) })).toBe('pass');
    expect(judge([exclusion], { ...evil, now: Date.UTC(2026, 2, 1) })).toBe('block');
  });

  test.each([
    [{ rule_id: 0 }, 'Exclusion 1: 0 is not a rule id'],
    [{ rule_id: 1, host: 'a b' }, 'Exclusion 1: "a b" is not a host name'],
    [{ rule_id: 1, path: 'api' }, 'Exclusion 1: "api" is not a path'],
    [{ rule_id: 1, path: '/a" "id:2' }, 'is not a path'],
    [{ rule_id: 1, target: 'NOSUCH:x' }, 'There is no variable NOSUCH'],
    [{ rule_id: 1, target: 'ARGS:x",deny' }, 'holds a character that a target cannot hold'],
    [{ rule_id: 1, expires_at: 'soon' }, '"soon" is not a moment in time'],
  ])('are refused when they cannot be expressed: %o', (exclusion, message) => {
    expect(() => exclusionRules([exclusion])).toThrow(message);
  });
});

test('a target left out of all rules for one request is looked at by none of them', () => {
  const other = {
    path: 'other',
    text: `SecRule ARGS "@contains evil" "id:2,phase:2,deny,chain"\n  SecRule ARGS_NAMES "@rx ." ""\n`.replace(
      ' ""',
      '',
    ),
  };
  const ruleSet = compile([baselineRules, rules, other]).ruleSet!;
  const judgeWith = (request: Parameters<typeof given.request>[0], target?: string) =>
    ruleSet.inspect({
      ...given.request(request),
      exclusions: [target === undefined ? {} : { target }],
    }).action;
  expect(judgeWith({ query: 'json.a=evil' }, 'ARGS:/^json/')).toBe('pass');
  expect(judgeWith({ query: 'other=evil' }, 'ARGS:/^json/')).toBe('block');
  expect(judgeWith({ query: 'json.a=evil' })).toBe('block');
});

describe('the baseline', () => {
  const { ruleSet } = compile([baselineRules]);

  test.each([
    ['application/json', '{"a":', 'block'],
    ['application/problem+json', '{"a":', 'block'],
    ['application/json', '{"a":1}', 'pass'],
    ['text/xml', '<a><b></a>', 'block'],
    ['application/soap+xml; charset=utf-8', '<a/>', 'pass'],
    ['multipart/form-data; boundary=x', '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1', 'block'],
  ])('%s %o is answered %s', (type, body, action) => {
    const verdict = ruleSet!.inspect(given.request({ method: 'POST', headers: { 'Content-Type': type }, body }));
    expect(verdict.action).toBe(action);
    expect(verdict.status).toBe(action === 'block' ? 400 : 200);
  });
});

test('the baseline does not keep the defaults of a rule set from being worked out at load', () => {
  const defaults = { path: 'defaults', text: 'SecAction "id:900100,phase:1,pass,nolog,setvar:tx.level=1"\n' };
  const { program } = compileProgram([baselineRules, ownRules, defaults], {});
  const rule = program!.rules.find(({ id }) => id === 900_100)!;
  expect(foldConstants(program!).done.has(rule.index)).toBe(true);
});

describe('CRS settings', () => {
  test('are rule text that compiles', () => {
    const source = crsSettings({ paranoiaLevel: 3, inboundThreshold: 7 });
    const { ruleSet, diagnostics } = compile([baselineRules, source]);
    expect(diagnostics).toEqual([]);
    expect(ruleSet!.inspect(given.request({})).scores.inbound.threshold).toBe(7);
  });

  test('allow methods and types of bodies, for all requests and for one', () => {
    const policy = {
      path: 'policy',
      text: `SecAction "id:1,phase:1,pass,nolog,setvar:'tx.allowed_methods=GET'"
SecRule REQUEST_METHOD "!@within %{tx.allowed_methods}" "id:2,phase:1,deny,status:405"
SecRule REQUEST_HEADERS:Content-Type "@rx ^[^;\\s]+" "id:3,phase:1,deny,status:415,capture,t:none,t:lowercase,setvar:'tx.type=|%{tx.0}|',chain"
  SecRule TX:type "!@within %{tx.allowed_request_content_type}"`,
    };
    const settings = crsSettings({ paranoiaLevel: 1, inboundThreshold: 5, contentTypes: ['text/plain', 'text/csv'] });
    const ruleSet = compile([baselineRules, settings, policy]).ruleSet!;
    const status = (method: string, type: string, own?: Record<string, string>) => {
      const request = given.request({ method, headers: { 'Content-Type': type } });
      return ruleSet.inspect(own === undefined ? request : { ...request, settings: own }).status;
    };
    expect([status('GET', 'text/csv'), status('PUT', 'text/csv'), status('GET', 'image/png')]).toEqual([200, 405, 415]);
    const own = crsPolicy({ methods: ['PUT'], contentTypes: ['image/png'] });
    expect([status('GET', 'text/csv', own), status('PUT', 'text/csv', own), status('PUT', 'image/png', own)]).toEqual([
      405, 415, 200,
    ]);
    // The next request is as before.
    expect(status('GET', 'text/csv')).toBe(200);
  });

  test.each([
    { methods: ["GET'"] },
    { methods: ['get'] },
    { methods: ['GET PUT'] },
    { contentTypes: ['text'] },
    { contentTypes: ['a/b|'] },
    { contentTypes: ['a/b c/d'] },
  ])('refuse what is no method or media type: %j', (policy) => {
    expect(() => crsPolicy(policy)).toThrow('is neither a method nor a media type');
  });

  test('refuse values that are none', () => {
    expect(() => crsSettings({ paranoiaLevel: 5 as 4, inboundThreshold: 5 })).toThrow('5 is not a paranoia level');
    expect(() => crsSettings({ paranoiaLevel: 1, inboundThreshold: 0 })).toThrow('0 is not an anomaly threshold');
  });
});
