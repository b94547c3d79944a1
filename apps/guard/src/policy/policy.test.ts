import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GuardConfig } from '@sallyport/contract';
import { WAF_BODY_LIMIT } from '@sallyport/contract/values';
import { describe, expect, onTestFinished, test } from 'vitest';
import { compileWhitelist } from './access.ts';
import { createPolicy } from './policy.ts';
import { readGuardConfig } from './read-config.ts';
import { compileRules, InvalidRules } from './rules.ts';
import { rulesKey } from './rules-key.ts';

const RULES = `SecRuleEngine On
SecAction "id:9,phase:1,pass,nolog,setvar:tx.word=lax"
SecRule ARGS:q "@contains attack" "id:1,phase:1,deny,status:403,log"
SecRule ARGS:q "@streq %{tx.word}" "id:2,phase:1,deny,status:404,log"`;

const config = (parts: Partial<GuardConfig> = {}, waf: Partial<GuardConfig['waf']> = {}): GuardConfig => ({
  revision: 7,
  access: { enabled: false, lists: [] },
  waf: { enabled: true, mode: 'block', fail_mode: 'closed', rule_sources: [], exclusions: [], ...waf },
  admin_whitelist: [],
  hosts: [],
  ...parts,
});

const ruleSet = compileRules([{ kind: 'text', path: 'test.conf', text: RULES }]);
const policyOf = (given: GuardConfig) => createPolicy(given, { ruleSet, country: undefined });
const bytes = (text: string) => Buffer.from(text, 'latin1');
const request = (uri: string) => ({
  method: bytes('GET'),
  uri: bytes(uri),
  httpVersion: bytes('HTTP/1.1'),
  headers: [[bytes('Host'), bytes('a.example')]] as const,
  body: null,
  clientAddress: '192.0.2.1',
  clientPort: 1,
  serverAddress: '192.0.2.2',
  serverPort: 80,
  uniqueId: 'u',
  now: 0,
});

const givenDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-policy-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
};

describe('a policy', () => {
  const own = config({
    hosts: [
      { id: 1, access_list_id: null, waf_enabled: false },
      { id: 2, access_list_id: null, waf_enabled: true, waf_settings: { word: 'odd' } },
      { id: 3, access_list_id: null, waf_enabled: true, waf_body_limit: 500 },
    ],
  });

  test('says what it was made of', () => {
    expect(policyOf(config())).toMatchObject({
      revision: 7,
      hasFirewall: true,
      enforcesLists: false,
      failMode: 'closed',
    });
    const other = policyOf(config({ access: { enabled: true, lists: [] } }, { enabled: false, fail_mode: 'open' }));
    expect(other).toMatchObject({ hasFirewall: false, enforcesLists: true, failMode: 'open' });
    expect([other.knowsAccess(1), policyOf(config()).knowsAccess(1)]).toEqual([false, true]);
  });

  test('inspects every host but those without the firewall, and none while it is off', () => {
    const inspected = (given: GuardConfig) => [1, 2, 3, 4].map((id) => policyOf(given).inspects(id));
    expect(inspected(own)).toEqual([false, true, true, true]);
    expect(inspected({ ...own, waf: { ...own.waf, enabled: false } })).toEqual([false, false, false, false]);
  });

  test('sets the rules up for the one host whose settings they are', () => {
    const policy = policyOf(own);
    const verdicts = (uri: string) => [2, 3].map((id) => policy.inspect(id, request(uri)).ruleId);
    expect(verdicts('/?q=odd')).toEqual([2, null]);
    expect(verdicts('/?q=attack')).toEqual([1, 1]);
    const begun = [2, 3].map((id) => policy.begin(id, request('/?q=odd')));
    expect(begun.map(({ requestVerdict }) => requestVerdict.ruleId)).toEqual([2, null]);
    for (const transaction of begun) transaction.end();
  });

  test('takes bodies as long as the host, the suite or the default says', () => {
    const limits = (given: GuardConfig) => [2, 3, 4].map((id) => policyOf(given).bodyLimit(id));
    expect(limits(own)).toEqual([WAF_BODY_LIMIT, 500, WAF_BODY_LIMIT]);
    expect(limits({ ...own, waf: { ...own.waf, body_limit: 900 } })).toEqual([900, 500, 900]);
  });

  test('refuses in block mode, and only reports in monitor mode', () => {
    const action = (mode: 'block' | 'monitor') => policyOf(config({}, { mode })).inspect(4, request('/?q=attack'));
    expect(action('block')).toMatchObject({ action: 'block', wouldBe: 'block' });
    expect(action('monitor')).toMatchObject({ action: 'pass', wouldBe: 'block' });
  });

  test('fails rather than pass what it has no rules for', () => {
    const policy = createPolicy(config(), { ruleSet: null, country: undefined });
    expect(() => policy.inspect(1, request('/'))).toThrow('no rules');
    expect(() => policy.begin(1, request('/'))).toThrow('no rules');
  });
});

test('the whitelist holds its networks and nobody else', () => {
  const isWhitelisted = compileWhitelist(['192.0.2.0/24', '2001:db8::/32']);
  const clients = ['192.0.2.9', '::ffff:192.0.2.9', '2001:db8::1', '192.0.3.1', '2001:db9::1', '', 'unknown'];
  expect(clients.map(isWhitelisted)).toEqual([true, true, true, false, false, false, false]);
  expect(() => compileWhitelist(['192.0.2.0/33'])).toThrow('prefix length');
});

test('countries are looked up before a list of them is in force, and only then', () => {
  const list = {
    id: 1,
    name: 'a',
    description: '',
    type: 'geo_deny' as const,
    rules: [],
    countries: ['AQ'],
    local_network_only: false,
    enabled: true,
  };
  const country = () => {
    throw new Error('the database is broken');
  };
  const given = (countries: string[]) => config({ access: { enabled: true, lists: [{ ...list, countries }] } });
  expect(() => createPolicy(given(['AQ']), { ruleSet, country })).toThrow('the database is broken');
  expect(() => createPolicy(given([]), { ruleSet, country })).not.toThrow();
});

describe('a configuration on disk', () => {
  test.each([
    ['is whole', JSON.stringify(config()), undefined],
    ['is empty', '', 'JSON'],
    ['was cut', JSON.stringify(config()).slice(0, 60), 'JSON'],
    ['lacks a part', JSON.stringify({ ...config(), hosts: undefined }), 'is not a guard configuration'],
    [
      'has a word of its own',
      JSON.stringify(config({}, { fail_mode: 'ajar' as 'open' })),
      'is not a guard configuration',
    ],
    ['has no revision', JSON.stringify({ ...config(), revision: 0 }), 'is not a guard configuration'],
  ])('that %s is read or refused', (_what, text, problem) => {
    const path = join(givenDirectory(), 'config.json');
    writeFileSync(path, text);
    if (problem === undefined) expect(readGuardConfig(path)).toEqual(config());
    else expect(() => readGuardConfig(path)).toThrow(problem);
  });

  test('that is not there is no configuration', () => {
    expect(() => readGuardConfig(join(givenDirectory(), 'config.json'))).toThrow('ENOENT');
  });
});

describe('rules', () => {
  test('come from texts and files, in their order', () => {
    const path = join(givenDirectory(), 'rules.conf');
    writeFileSync(path, 'SecRule ARGS:q "@contains b\xe9" "id:10,phase:1,deny,status:403"', 'latin1');
    const compiled = compileRules([
      { kind: 'text', path: 'a.conf', text: 'SecRuleEngine On' },
      { kind: 'file', path },
    ]);
    expect(compiled.inspect(request('/?q=b%e9'), { mode: 'block' })).toMatchObject({ action: 'block', ruleId: 10 });
  });

  test('that do not compile are all named, and what is only a warning is not', () => {
    const text = `SecRule ARGS "@rx (" "id:1,phase:1,deny"\n${'SecNonsense\n'.repeat(150)}`;
    const failure = (() => {
      try {
        compileRules([{ kind: 'text', path: 'bad.conf', text }]);
      } catch (error) {
        return error as InvalidRules;
      }
      return undefined;
    })();
    expect(failure).toBeInstanceOf(InvalidRules);
    expect(failure?.message).toContain("the rules can't be compiled: bad.conf");
    expect(failure?.diagnostics[0]).toContain('bad.conf');
    expect(failure?.diagnostics).toHaveLength(100);
  });

  test('that may be others have another key', () => {
    const path = join(givenDirectory(), 'rules.conf');
    const file = [{ kind: 'file' as const, path }];
    const text = (value: string) => [{ kind: 'text' as const, path: 'a.conf', text: value }];
    expect(rulesKey(text('a'))).toBe(rulesKey(text('a')));
    expect(rulesKey(text('a'))).not.toBe(rulesKey(text('b')));
    writeFileSync(path, 'one');
    utimesSync(path, 1, 1);
    const before = rulesKey(file);
    expect(rulesKey(file)).toBe(before);
    utimesSync(path, 1, 2);
    expect(rulesKey(file)).not.toBe(before);
    writeFileSync(path, 'other');
    utimesSync(path, 1, 1);
    expect(rulesKey(file)).not.toBe(before);
    rmSync(path);
    expect(() => rulesKey(file)).toThrow('ENOENT');
  });
});
