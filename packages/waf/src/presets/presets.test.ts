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

  test('hold for nothing that an application may take for another path', () => {
    const at = (path: string) => judge([{ rule_id: 1, path: '/api' }], { path, query: 'comment=evil' });
    expect(['/api', '/api/', '/api/a..b/c%20d', '/api//x', '/%61pi/x'].map(at)).toEqual(Array(5).fill('pass'));
    const detours = [
      ...['/api/..%5cadmin', '/api\\..\\admin', '/api/..;/admin', '/api/..;x=1/admin', '/api;/../admin'],
      ...['/api/%252e%252e/admin', '/api/%25', '/api/x%00', '/api/x%0a', '/admin%0a/api', '/admin/api', '/API'],
    ];
    for (const path of detours) expect([path, at(path)]).toEqual([path, 'block']);
  });

  test('hold for one path where a pattern begins at every line', () => {
    const { before } = exclusionRules([{ rule_id: 1, path: '/api' }]);
    const { ruleSet } = compile([baselineRules, before, rules], { dialect: 'modsecurity3' });
    const at = (path: string) => ruleSet!.inspect(given.request({ path, query: 'comment=evil' })).action;
    expect(['/api', '/admin%0a/api', '/api%0a/admin'].map(at)).toEqual(['pass', 'block', 'block']);
  });

  test('hold where all that they name does: host, path and time', () => {
    const exclusion = { rule_id: 1, host: 'SHOP.example', path: '/api', expires_at: '2026-03-01T00:00:00Z' };
    const all = { path: '/api', query: 'comment=evil', headers: { Host: 'Shop.Example' }, now: Date.UTC(2026, 1, 28) };
    expect(judge([exclusion], all)).toBe('pass');
    expect(judge([exclusion], { ...all, headers: { Host: 'shop.example.evil.example' } })).toBe('block');
    expect(judge([exclusion], { ...all, path: '/apis' })).toBe('block');
    expect(judge([exclusion], { ...all, now: Date.UTC(2026, 2, 1) })).toBe('block');
  });

  test('of the whole site hold everywhere', () => {
    expect(judge([{ rule_id: 1, path: '/' }], { path: '/a/b', query: 'comment=evil' })).toBe('pass');
  });

  test('are told where they are wrong: as rule text they name themselves, and there are 10,000 at most', () => {
    const { before, after } = exclusionRules([{ rule_id: 1 }, { rule_id: 1, path: '/a' }]);
    expect([before.path, after.path]).toEqual(['exclusions-before', 'exclusions-after']);
    expect(() => exclusionRules([{ rule_id: 1 }, { rule_id: 1, path: 'x' }])).toThrow('Exclusion 2: "x" is not a path');
    const three = ['/a', '/b', '/c'].map((path) => ({ rule_id: 1, path }));
    expect(String(exclusionRules(three).before.text).match(/\bid:\d+/g)).toEqual(
      [9_510_000, 9_510_001, 9_510_002].map((id) => `id:${id}`),
    );
    const many = Array.from({ length: 10_000 }, () => ({ rule_id: 1 }));
    expect(String(exclusionRules(many).after.text).split('\n')).toHaveLength(10_001);
    expect(() => exclusionRules([...many, { rule_id: 1 }])).toThrow('More than 10000 exclusions');
  });

  test('end when they expire', () => {
    const exclusion = { rule_id: 1, host: 'shop.example', expires_at: '2026-03-01T00:00:00Z' };
    expect(judge([exclusion], { ...evil, now: Date.UTC(2026, 1, 28) })).toBe('pass');
    expect(judge([exclusion], { ...evil, now: Date.UTC(2026, 2, 1) })).toBe('block');
  });

  test.each([
    [{ rule_id: 0 }, 'Exclusion 1: 0 is not a rule id'],
    [{ rule_id: 1.5 }, 'Exclusion 1: 1.5 is not a rule id'],
    [{ rule_id: 1, host: 'a b' }, 'Exclusion 1: "a b" is not a host name'],
    [{ rule_id: 1, host: '"a' }, 'is not a host name'],
    [{ rule_id: 1, host: 'a"' }, 'is not a host name'],
    [{ rule_id: 1, host: '' }, 'is not a host name'],
    [{ rule_id: 1, path: '/%{tx.a}' }, 'is not a path'],
    [{ rule_id: 1, path: '/a\\' }, 'is not a path'],
    [{ rule_id: 1, path: 'x/a' }, 'is not a path'],
    [{ rule_id: 1, path: 'api' }, 'Exclusion 1: "api" is not a path'],
    [{ rule_id: 1, path: '/a" "id:2' }, 'is not a path'],
    [{ rule_id: 1, target: 'NOSUCH:x' }, 'There is no variable NOSUCH'],
    [{ rule_id: 1, target: 'ARGS:x",deny' }, 'Exclusion 1: "ARGS:x",deny" holds a character that a target cannot hold'],
    [{ rule_id: 1, target: 'ARGS|FILES' }, 'holds a character that a target cannot hold'],
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

  const idsFor = (types: readonly string[], body: string) => {
    const request = given.request({ method: 'POST', body });
    const headers = types.map((type) => [Buffer.from('content-type'), Buffer.from(type)] as const);
    const verdict = ruleSet!.inspect({ ...request, headers: [...request.headers, ...headers] }, { mode: 'detect' });
    expect(verdict).toMatchObject(
      verdict.matches.length > 0 ? { wouldBe: 'block', ruleId: verdict.matches[0]!.id } : { wouldBe: 'pass' },
    );
    return verdict.matches.map(({ id }) => id - 9_500_000);
  };
  const part = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n';

  test.each<[string[], string, number[]]>([
    [['application/x-json'], '{"a":', [10]],
    [['Application/JSON ; charset=utf-8'], '{"a":', [10]],
    [['Application/Soap+XML;a=b'], '<a>', [10]],
    [['multipart/form-data; boundary=x'], `${part}--x--\r\n`, []],
    [['multipart/form-data; boundary=x'], `${part}--x--\r\nbehind`, [11]],
    [['multipart/form-data; boundary=x'], `${part}--y\r\n`, [10, 11, 12]],
    [['text/plain', 'text/plain'], 'a', [13]],
    [['application/json', 'text/plain'], '{}', [13]],
  ])('of a body that is named %j: %j', (types, body, ids) => {
    expect(idsFor(types, body)).toEqual(ids);
  });

  test.each([
    ...['utf-8', 'UTF8', '"utf-8"', "'utf-8'", ' = utf-8 ', 'ascii', 'us-ascii', 'iso-8859-1', 'ISO8859-15', '8859-1'],
    ...['latin1', 'windows-1252', 'cp1251', 'utf-8; a=b'],
  ])('reads a body in charset=%s', (charset) => {
    expect(idsFor([`text/plain; charset${charset.startsWith(' =') ? charset : `=${charset}`}`], 'a')).toEqual([]);
  });

  test.each([
    ...[
      '=utf-7',
      '=utf-16',
      '=UTF-16LE',
      '=utf-32',
      '=ibm037',
      '=cp500',
      '=utf-8x',

      '=',
      '',
      "*=utf-16''x",
    ],
    ...[
      '=iso-8859-123',
      '=windows-1260',
      '=utf-8; charset=utf-7',
      '=utf-7; charset=utf-8',
      '=shift_jis',
      '=iso-2022-jp',
    ],
  ])('refuses one in charset%s', (charset) => {
    expect(idsFor([`text/plain; charset${charset}`], 'a')).toEqual([14]);
  });

  test('looks at bodies and says how much of them', () => {
    const { program } = compileProgram([baselineRules], {});
    expect(program!.rules.map(({ place }) => place.file)).toEqual(Array(8).fill('baseline'));
    expect(program!.settings).toMatchObject({
      ...{ engineMode: 'on', isRequestBodyAccessed: true, isResponseBodyAccessed: true },
      ...{ requestBodyLimit: 13_107_200, requestBodyNoFilesLimit: 13_107_200, requestBodyLimitAction: 'reject' },
      ...{ responseBodyLimit: 1_048_576, responseBodyLimitAction: 'process-partial' },
      responseBodyTypes: ['text/plain', 'text/html', 'text/xml', 'application/json'],
    });
  });

  test('has REQUEST_BODY of XML and of multipart bodies too, and of JSON its values', () => {
    const seen = {
      path: 'seen',
      text: 'SecRule REQUEST_BODY|ARGS|XML:/* "@contains evil" "id:1,phase:2,deny,status:418"',
    };
    const own = compile([baselineRules, seen]).ruleSet!;
    const status = (type: string, body: string) =>
      own.inspect(given.request({ method: 'POST', headers: { 'Content-Type': type }, body })).status;
    expect(status('text/xml', '<!-- evil --><a/>')).toBe(418);
    expect(status('multipart/form-data; boundary=x', `${part.replace('1', 'evil')}--x--\r\n`)).toBe(418);
    expect(status('application/json', '{"a":"\\u0065vil"}')).toBe(418);
    expect(status('application/vnd.api+json', '{"a":"\\u0065vil"}')).toBe(418);
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

  test('set the level and both thresholds by the names of CRS 3.3 and 4', () => {
    const says = (settings: Parameters<typeof crsSettings>[0]) => {
      const names =
        'paranoia_level blocking_paranoia_level inbound_anomaly_score_threshold outbound_anomaly_score_threshold';
      const msg = names.replaceAll(/\w+/g, (name) => `%{tx.${name}}`);
      const say = { path: 'say', text: `SecAction "id:1,phase:1,pass,log,msg:'${msg}'"` };
      const source = crsSettings(settings);
      expect(source.path).toBe('crs-settings');
      return compile([baselineRules, source, say]).ruleSet!.inspect(given.request({})).matches[0]!.message;
    };
    expect(says({ paranoiaLevel: 2, inboundThreshold: 1 })).toBe('2 2 1 4');
    expect(says({ paranoiaLevel: 4, inboundThreshold: 7, outboundThreshold: 1 })).toBe('4 4 7 1');
  });

  test('refuse values that are none', () => {
    expect(() => crsSettings({ paranoiaLevel: 5 as 4, inboundThreshold: 5 })).toThrow('5 is not a paranoia level');
    expect(() => crsSettings({ paranoiaLevel: 0 as 4, inboundThreshold: 5 })).toThrow('0 is not a paranoia level');
    expect(() => crsSettings({ paranoiaLevel: 1, inboundThreshold: 0 })).toThrow('0 is not an anomaly threshold');
    expect(() => crsSettings({ paranoiaLevel: 1, inboundThreshold: 1.5 })).toThrow('1.5 is not an anomaly threshold');
    const outbound = { paranoiaLevel: 1, inboundThreshold: 5, outboundThreshold: 0 } as const;
    expect(() => crsSettings(outbound)).toThrow('0 is not an anomaly threshold');
  });
});
