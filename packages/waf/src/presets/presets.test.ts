import { describe, expect, test } from 'vitest';
import { given } from '../../test/given.ts';
import { baselineRules, compile, crsSettings, exclusionRules } from '../index.ts';

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

describe('CRS settings', () => {
  test('are rule text that compiles', () => {
    const source = crsSettings({ paranoiaLevel: 3, inboundThreshold: 7 });
    const { ruleSet, diagnostics } = compile([baselineRules, source]);
    expect(diagnostics).toEqual([]);
    expect(ruleSet!.inspect(given.request({})).scores.inbound.threshold).toBe(7);
  });

  test('refuse values that are none', () => {
    expect(() => crsSettings({ paranoiaLevel: 5 as 4, inboundThreshold: 5 })).toThrow('5 is not a paranoia level');
    expect(() => crsSettings({ paranoiaLevel: 1, inboundThreshold: 0 })).toThrow('0 is not an anomaly threshold');
  });
});
