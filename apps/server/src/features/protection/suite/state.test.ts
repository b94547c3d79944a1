import { existsSync } from 'node:fs';
import { SECURITY_DEFAULTS, type WafExclusion } from '@sallyport/contract';
import { compile } from '@sallyport/waf';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileExclusions, normaliseExclusions } from './exclusions.ts';
import { computeState, isEnforced, type SecurityFacts } from './state.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const HOST = '11111111-1111-4111-8111-111111111111';
const core = { directory: '/crs', setup: ['/crs/setup.conf'], rules: ['/crs/a.conf', '/crs/b.conf'] };
const on = { guard: true, acl: true, waf: true, rate_limit: true, crowdsec: true };

const facts = (more: Partial<SecurityFacts> = {}): SecurityFacts => ({
  resetPending: false,
  config: undefined,
  switches: on,
  lists: [],
  rulesets: [],
  hosts: [],
  hostIds: new Map(),
  ownApi: [],
  ...more,
});

test('bans are enforced while the suite is on, those of CrowdSec while it is on as well; a limit has its exceptions', () => {
  const enforced = (switches: Partial<SecurityFacts['switches']>) => {
    const state = computeState(facts({ switches: { ...on, ...switches } }), core, NOW);
    return ['manual', 'crowdsec'].map((source) => isEnforced(state, { source }));
  };
  expect(enforced({})).toEqual([true, true]);
  expect(enforced({ crowdsec: false })).toEqual([true, false]);
  expect(enforced({ guard: false })).toEqual([false, false]);
  const limits = { rate_limit_requests: 7, rate_limit_burst: 2, rate_limit_window_sec: 5 };
  const config = { ...SECURITY_DEFAULTS, ...limits, rate_limit_bypass_list: '192.0.2.1,10.0.0.0/8' };
  const given = { config: { ...config, waf_exclusions: [], updated_at: '' } };
  const limit = { requests: 7, burst: 2, windowSec: 5, bypass: ['192.0.2.1', '10.0.0.0/8'] };
  expect(computeState(facts(given), core, NOW).rateLimit).toEqual(limit);
  const off = { ...given, switches: { ...on, rate_limit: false } };
  expect(computeState(facts(off), core, NOW).rateLimit).toBeNull();
});

test('guards judge by a module that is on while the suite is, and are told the same as HAProxy', () => {
  const told = (switches: Partial<SecurityFacts['switches']>) => {
    const { guard, switches: asked } = computeState(facts({ switches: { ...on, ...switches } }), core, NOW);
    expect([asked.judgeAccess, asked.judgeWaf]).toEqual([guard.access.enabled, guard.waf.enabled]);
    return [guard.access.enabled, guard.waf.enabled];
  };
  expect(told({})).toEqual([true, true]);
  expect(told({ acl: false })).toEqual([false, true]);
  expect(told({ waf: false })).toEqual([true, false]);
  expect(told({ guard: false })).toEqual([false, false]);
});

describe('rules of the guards', () => {
  const ruleset = (mode: 'owasp' | 'custom') => ({
    id: 1,
    uuid: HOST,
    name: 'mine',
    source_url: '',
    mode,
    content: 'SecRule ARGS "@rx x" "id:1,phase:2,deny"',
    rule_count: 1,
    created_at: '',
    updated_at: '',
  });
  const config = (waf_rules_source: string) => ({
    ...({
      name: 'default',
      admin_whitelist: '',
      crowdsec_mode: 'disabled',
      waf_mode: 'block',
      webhook_url: '',
    } as const),
    ...({ rate_limit_requests: 1, rate_limit_window_sec: 1, rate_limit_burst: 0, rate_limit_bypass_list: '' } as const),
    ...({ waf_paranoia_level: 3, waf_anomaly_threshold: 7, waf_fail_mode: 'open', updated_at: '' } as const),
    ...({ waf_allowed_methods: 'GET,PUT', waf_allowed_content_types: 'text/plain,application/json' } as const),
    waf_body_limit: 5_000,
    waf_rules_source,
    waf_exclusions: [{ rule_id: 942100 }],
  });
  const paths = (given: SecurityFacts) => computeState(given, core, NOW).guard.waf.rule_sources.map(({ path }) => path);

  test('allow what the settings say, and bodies up to their limit', () => {
    const { waf } = computeState(facts({ config: config('owasp') }), core, NOW).guard;
    const levels = waf.rule_sources.find(({ path }) => path === 'sallyport/levels');
    expect(levels).toMatchObject({ text: expect.stringContaining("setvar:'tx.allowed_methods=GET PUT'") });
    expect(levels).toMatchObject({
      text: expect.stringContaining("setvar:'tx.allowed_request_content_type=|text/plain| |application/json|'"),
    });
    expect(waf.body_limit).toBe(5_000);
  });

  test('are set up otherwise for a host that says so', () => {
    const host = { id: 7, access_list_id: null, waf_enabled: true };
    const own = { waf_allowed_methods: 'GET', waf_allowed_content_types: 'text/csv', waf_body_limit: 9_000 };
    const origin = { forward_host: '127.0.0.1', forward_port: 1, forward_reserved: false };
    expect(computeState(facts({ hosts: [{ ...host, ...own, ...origin }] }), core, NOW).guard.hosts).toEqual([
      {
        ...host,
        waf_settings: { allowed_methods: 'GET', allowed_request_content_type: '|text/csv|' },
        waf_body_limit: 9_000,
      },
    ]);
  });

  test('leave out what our own API takes as JSON, for the host that leads to it', () => {
    expect(computeState(facts({ ownApi: [9] }), core, NOW).guard.waf.exclusions).toEqual([
      { target: 'ARGS:/^json/', host_id: 9, path: '/api' },
    ]);
  });

  test('are the Core Rule Set by default, between its set-up and the exclusions', () => {
    expect(paths(facts({ config: config('owasp') }))).toEqual([
      'sallyport/engine',
      '/crs/setup.conf',
      'sallyport/levels',
      '/crs/a.conf',
      '/crs/b.conf',
      'sallyport/exclusions',
    ]);
  });

  test('are a ruleset in front of it, or alone', () => {
    const owasp = facts({ config: config('mine'), rulesets: [ruleset('owasp')] });
    expect(paths(owasp)).toEqual([
      'sallyport/engine',
      '/crs/setup.conf',
      'sallyport/levels',
      'ruleset/mine',
      '/crs/a.conf',
      '/crs/b.conf',
      'sallyport/exclusions',
    ]);
    const custom = facts({ config: config('mine'), rulesets: [ruleset('custom')] });
    expect(paths(custom)).toEqual(['sallyport/engine', 'sallyport/levels', 'ruleset/mine', 'sallyport/exclusions']);
  });

  test('a missing Core Rule Set is said, not passed over', () => {
    const state = computeState(facts(), undefined, NOW);
    expect(state.issue).toContain('not installed');
    // Without it nothing would be refused: guards are given what they can't put in force.
    const missing = state.guard.waf.rule_sources.filter((source) => source.kind === 'file');
    expect(missing.map(({ path }) => existsSync(path))).toEqual([false]);
    const alone = facts({ config: config('mine'), rulesets: [ruleset('custom')] });
    expect(computeState(alone, undefined, NOW).issue).toBeNull();
  });

  test('of our own making compile', () => {
    const sources = computeState(facts({ config: config('owasp') }), undefined, NOW).guard.waf.rule_sources;
    const texts = sources.flatMap((source) =>
      source.kind === 'text' ? [{ path: source.path, text: source.text }] : [],
    );
    const { ruleSet, diagnostics } = compile(texts, {});
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(ruleSet?.ruleCount).toBe(1);
  });
});

describe('exclusions', () => {
  const hostIds = new Map([[HOST, 7]]);

  test('for every request become directives, the others go to the guards', () => {
    const exclusions: WafExclusion[] = [
      { rule_id: 942100 },
      { rule_id: '920000-920999', target: 'ARGS:comment' },
      { rule_id: 941100, host_uuid: HOST, path: '/blog', target: 'ARGS:html' },
      { rule_id: 941110, path: '/api' },
      { rule_id: 941120, host_uuid: '22222222-2222-4222-8222-222222222222' },
    ];
    expect(compileExclusions(exclusions, hostIds, NOW)).toEqual({
      directives: 'SecRuleRemoveById "942100"\nSecRuleUpdateTargetById "920000-920999" "!ARGS:comment"\n',
      perRequest: [
        { rule_id: 941100, target: 'ARGS:html', host_id: 7, path: '/blog' },
        { rule_id: 941110, path: '/api' },
      ],
      nextExpiry: undefined,
    });
  });

  test('that ended count no more, and the next end is known', () => {
    const at = (ms: number) => new Date(NOW + ms).toISOString();
    const exclusions: WafExclusion[] = [
      { rule_id: 1, expires_at: at(0) },
      { rule_id: 2, expires_at: at(2_000) },
      { rule_id: 3, expires_at: at(1_000), target: 'ARGS:x' },
      { rule_id: '4-5', expires_at: at(3_000) },
    ];
    // What ends is no part of the rules where it can be: the guards would have to compile them again at that moment.
    expect(compileExclusions(exclusions, hostIds, NOW)).toEqual({
      directives: 'SecRuleRemoveById "4-5"\n',
      perRequest: [{ rule_id: 2 }, { rule_id: 3, target: 'ARGS:x' }],
      nextExpiry: NOW + 1_000,
    });
  });

  test('never put anything into the rules but removals, whatever the target', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `ARGS:${text}`),
        ),
        fc.string(),
        (target, rule_id) => {
          let exclusions: WafExclusion[];
          try {
            exclusions = normaliseExclusions([
              { rule_id, target },
              { rule_id: 1, target },
            ]);
          } catch {
            return;
          }
          const { directives } = compileExclusions(exclusions, hostIds, NOW);
          expect(directives).toMatch(/^(SecRuleUpdateTargetById "\d+(-\d+)?" "![A-Z_]+(:[^"\s]+)?"\n){2}$/);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
