import type { GuardBlock, GuardConfig } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { createPolicy } from '../policy/policy.ts';
import { compileRules } from '../policy/rules.ts';
import { createCounter, readCounts, SLAB_LENGTH } from '../tell/counts.ts';
import { OFFICE } from '../testing/office.ts';
import { createJudge, type Judged } from './judge.ts';

const RULES = `SecRuleEngine On
SecRule ARGS:to "@rx ." "id:1,phase:1,redirect:'https://login.example/%{ARGS.to}',log"
SecRule ARGS:q "@contains attack" "id:2,phase:1,deny,status:406,log"
SecRule ARGS:q "@contains cut" "id:3,phase:1,drop,log"
SecRule RESPONSE_HEADERS:X-Leak "@contains secret" "id:4,phase:3,deny,status:403,log"`;

const config = (parts: Partial<GuardConfig['waf']> = {}): GuardConfig => ({
  revision: 1,
  access: {
    enabled: true,
    lists: [OFFICE],
  },
  waf: { enabled: true, mode: 'block', fail_mode: 'closed', rule_sources: [], exclusions: [], ...parts },
  admin_whitelist: ['198.51.100.7'],
  hosts: [
    { id: 7, access_list_id: 10, waf_enabled: true },
    { id: 8, access_list_id: null, waf_enabled: false },
  ],
});

const ruleSet = compileRules([{ kind: 'text', path: 'test.conf', text: RULES }]);
const bytes = (text: string) => Buffer.from(text, 'latin1');

const given = (parts: Partial<GuardConfig['waf']> = {}) => {
  const told: GuardBlock[] = [];
  const slab = new Float64Array(SLAB_LENGTH);
  const judge = createJudge({ counter: createCounter(slab), tell: (block) => told.push(block) });
  const policy = createPolicy(config(parts), { ruleSet, country: undefined });
  const request = (uri: string, client = '203.0.113.9', hostId = 1): Judged => ({
    reference: 'r',
    hostId,
    client,
    method: bytes('GET'),
    uri: bytes(uri),
    headers: () => [[bytes('Host'), bytes('a.example')]],
  });
  const whole = (judged: Judged) => () => ({
    method: judged.method,
    uri: judged.uri,
    httpVersion: bytes('HTTP/1.1'),
    headers: judged.headers(),
    body: null,
    clientAddress: judged.client,
    clientPort: 1,
    serverAddress: '192.0.2.2',
    serverPort: 80,
    uniqueId: 'u',
    now: 0,
  });
  return {
    told,
    counts: () => readCounts([slab]),
    firewall: (uri: string, client?: string, hostId?: number) => {
      const judged = request(uri, client, hostId);
      return judge.firewall(policy, judged, whole(judged));
    },
    exchange: (uri: string, client?: string, hostId?: number) => {
      const judged = request(uri, client, hostId);
      return judge.exchange(policy, judged, whole(judged));
    },
    access: (client: string, hostId: number) => judge.access(policy, request('/', client, hostId)),
  };
};

test('a redirect leads where the rule says', () => {
  expect(given().firewall('/?to=a/b?c=d%23e')).toEqual({
    action: 'redirect',
    layer: 'waf',
    location: 'https://login.example/a/b?c=d#e',
  });
});

test.each([
  ['a line of its own', '%0d%0aSet-Cookie:+a=b'],
  ['a line feed at its end', 'a%0a'],
  ['a carriage return at its start', '%0da'],
  ['a space', 'a+b'],
  ['NUL', 'a%00'],
  ['a byte above ASCII', 'a%ff'],
  ['more than a header has room for', 'x'.repeat(2_049)],
])('a redirect whose location would hold %s is a refusal', (_what, to) => {
  expect(given().firewall(`/?to=${to}`)).toEqual({ action: 'deny', layer: 'waf', status: 403 });
});

test('a refusal has the status of its rule, is counted and told', () => {
  const it = given();
  expect(it.firewall('/?q=attack')).toEqual({ action: 'deny', layer: 'waf', status: 406 });
  expect(it.firewall('/?q=cut')).toEqual({ action: 'drop', layer: 'waf' });
  expect(it.firewall('/?q=shoes')).toEqual({ action: 'pass' });
  expect(it.counts()).toMatchObject({ requests: 3, blocked: 2, monitored: 0 });
  expect(it.told).toMatchObject([
    { layer: 'waf', monitored: false, status: 406, rule_id: 2, ip: '203.0.113.9' },
    { layer: 'waf', monitored: false, rule_id: 3 },
  ]);
});

test('what is only monitored passes, and is counted and told as that', () => {
  const it = given({ mode: 'monitor' });
  expect(it.firewall('/?q=attack')).toEqual({ action: 'pass' });
  expect(it.counts()).toMatchObject({ requests: 1, blocked: 0, monitored: 1 });
  expect(it.told).toMatchObject([{ monitored: true, rule_id: 2 }]);
});

test('an administrator and a host without the firewall are let through, and nothing is told', () => {
  const it = given();
  expect(it.firewall('/?q=attack', '198.51.100.7')).toEqual({ action: 'pass' });
  expect(it.firewall('/?q=attack', '203.0.113.9', 8)).toEqual({ action: 'pass' });
  expect(it.exchange('/?q=attack', '203.0.113.9', 8)).toMatchObject({ judgement: { action: 'pass' } });
  expect(it.counts()).toMatchObject({ requests: 1, blocked: 0 });
  expect(it.told).toEqual([]);
});

test('an access list refuses who is not on it, but no administrator', () => {
  const it = given();
  expect(it.access('203.0.113.9', 7)).toEqual({ action: 'deny', layer: 'acl', status: 403 });
  expect(it.access('192.0.2.1', 7)).toBeUndefined();
  expect(it.access('198.51.100.7', 7)).toBeUndefined();
  expect(it.access('203.0.113.9', 1)).toBeUndefined();
  expect(it.counts().access_denied).toBe(1);
  expect(it.told).toMatchObject([
    {
      layer: 'acl',
      monitored: false,
      status: 403,
      rule_id: null,
      reason: expect.stringContaining('no allowed network'),
    },
  ]);
});

const answer = (leak: string) => ({
  status: 200,
  httpVersion: 'HTTP/1.1',
  headers: [[bytes('X-Leak'), bytes(leak)]] as const,
  body: null,
});

test('an answer is judged by the rules about answers, a refused request has none', () => {
  const it = given();
  const leaking = it.exchange('/');
  expect(leaking.judgement).toEqual({ action: 'pass' });
  expect(leaking.judgeResponse?.(answer('secret'))).toEqual({ action: 'deny', layer: 'waf', status: 403 });
  leaking.end();
  const sound = it.exchange('/');
  expect(sound.judgeResponse?.(answer(''))).toEqual({ action: 'pass' });
  const refused = it.exchange('/?q=attack');
  expect(refused.judgement).toMatchObject({ action: 'deny', status: 406 });
  expect(refused.judgeResponse).toBeUndefined();
  expect(it.counts()).toMatchObject({ requests: 3, blocked: 2 });
});

test('a request that was told as monitored is not told again for its answer', () => {
  const it = given({ mode: 'monitor' });
  const exchange = it.exchange('/?q=attack');
  expect(exchange.judgeResponse?.(answer('secret'))).toEqual({ action: 'pass' });
  expect(it.told).toHaveLength(1);
  expect(it.counts().monitored).toBe(1);
});
