import { type ConfigDocument, PROXY_HOST_DEFAULTS, SECURITY_DEFAULTS, type WafExclusion } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { certificate, host, list, ruleset, server, storedWith } from '../../testing/stored-config.ts';
import { toDocument } from './describe.ts';
import { planSteps, type Step } from './plan.ts';

/** As it comes: the schema's keys of settings are no literals to the type checker. */
type Document = Omit<Partial<ConfigDocument>, 'settings'> & { settings?: Record<string, string | number | boolean> };
const plan = (document: Document, stored = storedWith(), isPruning = false): Step[] =>
  planSteps({ sallyport: 1, ...document } as unknown as ConfigDocument, stored, isPruning);
const undoings = (steps: readonly Step[]) => steps.map(({ undoing }) => undoing);
/** Each step in a line: what it does to what, and which fields it gives. */
const inShort = (steps: readonly Step[]) =>
  steps.map(({ section, at, undoing }) => {
    const given = undoing.does === 'update' ? `: ${Object.keys(undoing.fields)}` : '';
    return `${undoing.does} ${section} ${at}${given}`;
  });
const refusal = (work: () => unknown) => {
  try {
    work();
    return 'no refusal';
  } catch (error) {
    const { status, message, details } = error as { status: number; message: string; details?: string };
    return `${status} ${message}${details === undefined ? '' : ` (${details})`}`;
  }
};

test('what is there already takes no step, whatever it is and however it is written', () => {
  const stored = storedWith({
    remote_servers: [server(1, 'rack'), server(2, 'twin'), server(3, 'twin')],
    access_lists: [
      list(4, 'office', {
        rules: [
          { cidr: '10.0.0.0/8', description: '' },
          { cidr: '192.0.2.1', description: 'vpn' },
        ],
        countries: ['DE'],
      }),
    ],
    rulesets: [ruleset(5, 'house')],
    certificates: [certificate(6, '', 'a.test'), certificate(7, 'same', 'b.test'), certificate(8, 'same', 'b.test')],
    proxy_hosts: [
      host(9, 'a.test,b.test', { remote_server_id: 3, certificate_id: 6, access_list_id: 4 }),
      host(10, '*.c.test', { certificate_id: 8, waf_enabled: false, name: 'C' }),
    ],
    security: {
      ...storedWith().security,
      waf_mode: 'monitor',
      waf_exclusions: [
        { rule_id: 942100, host_uuid: 'u9', description: '' },
        { rule_id: 1, host_uuid: 'gone', path: '/x', expires_at: '2099-01-01T00:00:00.000Z', description: 'why' },
      ],
    },
    settings: new Map([...storedWith().settings, ['smtp.port', '25'], ['feature.guard.enabled', 'true']]),
  });
  const document = toDocument(stored, true);
  expect(document).toStrictEqual({
    sallyport: 1,
    settings: { 'feature.guard.enabled': true, 'smtp.port': 25 },
    security: {
      waf_mode: 'monitor',
      waf_exclusions: [
        { rule_id: 942100, host: 'a.test' },
        { rule_id: 1, host_uuid: 'gone', path: '/x', expires_at: '2099-01-01T00:00:00.000Z', description: 'why' },
      ],
    },
    notifications: {},
    remote_servers: [
      { name: 'rack', host: '192.0.2.1', port: 1 },
      { name: 'twin', host: '192.0.2.1', port: 2 },
      { name: 'twin', host: '192.0.2.1', port: 3 },
    ],
    access_lists: [
      {
        name: 'office',
        type: 'deny',
        rules: [{ cidr: '10.0.0.0/8' }, { cidr: '192.0.2.1', description: 'vpn' }],
        countries: ['DE'],
      },
    ],
    rulesets: [{ name: 'house', content: 'rules' }],
    proxy_hosts: [
      {
        ...{ domain: '*.c.test', name: 'C', forward_host: '192.0.2.1', forward_port: 80, waf_enabled: false },
        certificate: 'same (b.test)',
      },
      {
        ...{ domain: 'a.test,b.test', forward_host: '192.0.2.1', forward_port: 80 },
        ...{ remote_server: 'twin (192.0.2.1:3)', certificate: 'a.test', access_list: 'office' },
      },
    ],
  });
  expect(toDocument(stored, false)).not.toHaveProperty('settings');
  for (const isPruning of [false, true]) {
    expect(planSteps(document, stored, isPruning)).toEqual([]);
    expect(planSteps({ sallyport: 1 }, stored, isPruning)).toEqual([]);
  }
  const otherwise = {
    security: {
      waf_exclusions: [{ rule_id: '942100', host: ' B.test.' }, ...(document.security?.waf_exclusions ?? []).slice(1)],
    },
    access_lists: [
      {
        name: ' office ',
        rules: [
          { cidr: '10.0.0.0/8', description: '' },
          { cidr: '192.0.2.1', description: 'vpn' },
        ],
      },
    ],
    settings: { 'feature.guard.enabled': 'true', 'smtp.port': '25' },
    proxy_hosts: [{ domain: ' A.test., b.TEST,a.test' }, { domain: '*.C.test', certificate: 'same' }],
  };
  expect(plan(otherwise, stored)).toEqual([]);
});

test('steps come in the order in which they can be made', () => {
  const stored = storedWith({
    remote_servers: [server(1, 'stays'), server(2, 'goes')],
    access_lists: [list(3, 'stays'), list(4, 'goes')],
    rulesets: [ruleset(5, 'stays'), ruleset(6, 'goes')],
    proxy_hosts: [host(7, 'a.test,b.test'), host(8, 'c.test'), host(9, 'goes.test')],
  });
  const steps = plan(
    {
      settings: { 'smtp.port': 25 },
      security: { waf_rules_source: 'new' },
      notifications: { enabled: true },
      remote_servers: [
        { name: 'stays', host: '192.0.2.1', port: 9 },
        { name: 'new', host: 'h', port: 1 },
      ],
      access_lists: [
        { name: 'stays', type: 'allow' },
        { name: 'new', type: 'deny' },
      ],
      rulesets: [
        { name: 'stays', content: 'other' },
        { name: 'new', content: 'rules' },
      ],
      proxy_hosts: [
        { domain: 'new.test', forward_host: 'h', forward_port: 1, access_list: 'new' },
        { domain: 'c.test,b.test' },
        { domain: 'a.test' },
      ],
    },
    stored,
    true,
  );
  expect(inShort(steps)).toEqual([
    'update remote_servers remote_servers[0]: port',
    'restore remote_servers remote_servers[1]',
    'update access_lists access_lists[0]: type',
    'restore access_lists access_lists[1]',
    'update rulesets rulesets[0]: id,uuid,name,source_url,mode,content,rule_count,created_at,updated_at',
    'restore rulesets rulesets[1]',
    'remove proxy_hosts proxy_hosts: goes.test, which is left out',
    // A name is given up before another host gets it.
    'update proxy_hosts proxy_hosts[2]: domain',
    'update proxy_hosts proxy_hosts[1]: domain',
    'update proxy_hosts proxy_hosts[2]: domain',
    'restore proxy_hosts proxy_hosts[0]',
    'update security security: waf_rules_source',
    'update notifications notifications: enabled',
    'remove rulesets rulesets: goes, which is left out',
    'remove remote_servers remote_servers: goes, which is left out',
    'remove access_lists access_lists: goes, which is left out',
    'update settings settings.smtp.port: value',
  ]);
  expect(undoings(steps).flatMap((one) => (one.does === 'remove' ? [one.key] : []))).toEqual(['u9', 'u6', 'u2', 'u4']);
  const made = undoings(steps).flatMap((one) => (one.does === 'restore' ? [one] : []));
  expect(made.every(({ key, state }) => key === state.uuid && /^[0-9a-f-]{36}$/.test(key))).toBe(true);
  expect(made.at(-1)?.state).toEqual({
    ...{ ...PROXY_HOST_DEFAULTS, uuid: made.at(-1)?.key, domain: 'new.test', forward_host: 'h', forward_port: 1 },
    access_list_id: made[1]?.key,
  });
  expect(made[0]?.state).toMatchObject({ provider: 'generic', enabled: true, name: 'new', host: 'h', port: 1 });
});

test('what is left out is left alone; when pruned it goes, or gets its default, and no secret is touched', () => {
  const stored = storedWith({
    remote_servers: [server(1, 'rack'), { ...server(6, 'kept'), provider: 'docker', enabled: false }],
    access_lists: [list(2, 'office', { enabled: false, countries: ['DE'] })],
    rulesets: [{ ...ruleset(3, 'house'), mode: 'custom' }],
    proxy_hosts: [host(4, 'a.test', { waf_enabled: false, access_list_id: 2 }), host(5, 'b.test')],
    security: {
      ...storedWith().security,
      ...{ waf_mode: 'monitor', webhook_url: 'https://chat.test', waf_exclusions: [{ rule_id: 1, description: '' }] },
    },
    notifications: { ...storedWith().notifications, enabled: true, webhook_url: 'https://chat.test' },
    settings: new Map([...storedWith().settings, ['smtp.port', '25'], ['smtp.host', 'mail.test']]),
  });
  const document = {
    settings: { 'smtp.port': 25 },
    security: {},
    notifications: {},
    remote_servers: [{ name: 'kept' }],
    access_lists: [{ name: 'office' }],
    rulesets: [{ name: 'house' }],
    proxy_hosts: [{ domain: 'a.test' }],
  };
  expect(plan(document, stored)).toEqual([]);
  const steps = plan(document, stored, true);
  expect(undoings(steps)).toEqual([
    { does: 'update', key: 'u6', fields: { provider: 'generic', enabled: true } },
    { does: 'update', key: 'u2', fields: { countries: [], enabled: true } },
    { does: 'update', key: 'u3', fields: { ...stored.rulesets[0], mode: 'owasp' } },
    { does: 'remove', key: 'u5' },
    { does: 'update', key: 'u4', fields: { waf_enabled: true, access_list_id: null } },
    { does: 'update', key: '', fields: { waf_mode: SECURITY_DEFAULTS.waf_mode, waf_exclusions: [] } },
    { does: 'update', key: '', fields: { enabled: false } },
    { does: 'remove', key: 'u1' },
    { does: 'update', key: 'smtp.host', fields: { value: null } },
  ]);
  // Sections that a document does not have are nobody's to empty.
  expect(plan({ proxy_hosts: [] }, stored, true).map(({ undoing }) => undoing.key)).toEqual(['u4', 'u5']);
  expect(plan({ access_lists: [] }, stored, true).map(({ undoing }) => undoing.key)).toEqual(['u2']);
});

test('hosts refer to what is called so, among it what is new or renamed, and to one of several only by what tells it apart', () => {
  const stored = storedWith({
    remote_servers: [server(1, 'rack'), server(2, 'twin'), server(3, 'twin')],
    access_lists: [list(4, 'office'), list(5, 'goes')],
    certificates: [certificate(6, 'web', 'a.test'), certificate(7, 'web', 'b.test')],
    proxy_hosts: [host(8, 'a.test', { remote_server_id: 3, certificate_id: 7, access_list_id: 4 })],
  });
  const change = (fields: object) => plan({ proxy_hosts: [{ domain: 'a.test', ...fields }] }, stored);
  const fieldsOf = (steps: Step[]) => undoings(steps).map((one) => (one.does === 'update' ? one.fields : one));
  expect(change({ remote_server: 'twin', certificate: 'web', access_list: 'office' })).toEqual([]);
  expect(fieldsOf(change({ remote_server: 'rack', certificate: 'web (a.test)', access_list: null }))).toEqual([
    { remote_server_id: 'u1', certificate_id: 'u6', access_list_id: null },
  ]);
  expect(fieldsOf(change({ remote_server: 'twin (192.0.2.1:2)', access_list: 'goes' }))).toEqual([
    { remote_server_id: 'u2', access_list_id: 'u5' },
  ]);
  const fresh = { domain: 'new.test', forward_host: 'h', forward_port: 1 };
  const add = (fields: object, more: object = {}, isPruning = false) =>
    plan({ proxy_hosts: [{ ...fresh, ...fields }], ...more }, stored, isPruning);
  expect(refusal(() => add({ remote_server: 'twin' }))).toBe(
    '400 proxy_hosts[0].remote_server names 2 remote servers (they are twin (192.0.2.1:2), twin (192.0.2.1:3))',
  );
  expect(refusal(() => add({ certificate: 'web' }))).toMatch(
    /^400 proxy_hosts\[0\]\.certificate names 2 certificates /,
  );
  expect(refusal(() => add({ certificate: `none "${'x'.repeat(100)}` }))).toBe(
    `400 proxy_hosts[0].certificate names no certificate: ${JSON.stringify(`none "${'x'.repeat(74)}`)}`,
  );
  // One that is left out of a pruned section is no more.
  const lists = { access_lists: [{ name: 'office' }] };
  expect(refusal(() => add({ access_list: 'goes' }, lists, true))).toBe(
    '400 proxy_hosts[0].access_list names no access list: "goes"',
  );
  expect(add({ access_list: 'goes' }, lists)).toHaveLength(1);
  // What it is told apart by is what it will be.
  const moved = { remote_servers: [{ name: 'twin', host: 'moved', port: 9 }] };
  const [step] = add({ remote_server: 'twin (moved:9)' }, moved).slice(-1);
  expect(step?.undoing).toMatchObject({ state: { remote_server_id: 'u2' } });
});

test('a host is the one that has its first domain, first or at all; a domain is for one host', () => {
  const stored = storedWith({ proxy_hosts: [host(1, 'a.test,b.test'), host(2, 'c.test,d.test')] });
  const keys = (...domains: string[]) =>
    undoings(plan({ proxy_hosts: domains.map((domain) => ({ domain, forward_host: 'h', forward_port: 1 })) }, stored))
      .filter((one) => one.does !== 'update' || 'forward_port' in one.fields)
      .map((one) => (one.does === 'restore' ? `new ${one.state.domain}` : one.key));
  expect(keys('b.test')).toEqual(['u1']);
  expect(keys('d.test,a.test')).toEqual(['u2']);
  // Who has it first, goes first; the other one is new, and takes its name over.
  expect(keys('b.test', 'a.test')).toEqual(['u1', 'new b.test']);
  expect(keys('b.test', 'd.test', 'e.test')).toEqual(['u1', 'u2', 'new e.test']);
  expect(keys('not a name')).toEqual(['new not a name']);
  const twice = () => keys('a.test', 'x.test,A.test');
  expect(refusal(twice)).toBe('400 proxy_hosts[1].domain has a.test, which proxy_hosts[0] has');

  const swapped = plan({ proxy_hosts: [{ domain: 'a.test,d.test' }, { domain: 'c.test,b.test' }] }, stored);
  expect(undoings(swapped)).toEqual([
    { does: 'update', key: 'u1', fields: { domain: 'a.test' } },
    { does: 'update', key: 'u2', fields: { domain: 'c.test' } },
    { does: 'update', key: 'u1', fields: { domain: 'a.test,d.test' } },
    { does: 'update', key: 'u2', fields: { domain: 'c.test,b.test' } },
  ]);
});

test('servers of one name are told by where they lead, lists and rule sets have their names alone', () => {
  const stored = storedWith({
    remote_servers: [server(1, 'twin'), server(2, 'twin'), server(3, 'other')],
    access_lists: [list(4, 'office')],
    rulesets: [ruleset(5, 'house')],
  });
  const at = (name: string, port: number) => ({ name, host: '192.0.2.1', port });
  const steps = plan({ remote_servers: [at('twin', 9), at('twin', 1), at('twin', 8), at('other', 3)] }, stored);
  expect(inShort(steps)).toEqual([
    'update remote_servers remote_servers[0]: port',
    'restore remote_servers remote_servers[2]',
  ]);
  expect(steps[0]?.undoing).toEqual({ does: 'update', key: 'u2', fields: { port: 9 } });
  const elsewhere = { name: 'twin', host: '192.0.2.9', port: 1 };
  expect(plan({ remote_servers: [elsewhere, at('twin', 1)] }, stored)).toMatchObject([
    { undoing: { does: 'update', key: 'u2', fields: { host: '192.0.2.9', port: 1 } } },
  ]);
  const twice = { access_lists: [{ name: 'a' }, { name: 'office' }, { name: 'office ' }] };
  expect(refusal(() => plan(twice, stored))).toBe('400 access_lists[2].name is that of access_lists[1]');
  for (const [document, message] of [
    [{ remote_servers: [{ name: 'n', port: 1 }] }, 'remote_servers[0].host'],
    [{ remote_servers: [{ name: 'n', host: 'h' }] }, 'remote_servers[0].port'],
    [{ access_lists: [{ name: 'office' }, { name: 'n' }] }, 'access_lists[1].type'],
    [{ rulesets: [{ name: 'n' }] }, 'rulesets[0].content'],
    [{ proxy_hosts: [{ domain: 'n.test', forward_port: 1 }] }, 'proxy_hosts[0].forward_host'],
    [{ proxy_hosts: [{ domain: 'n.test', forward_host: 'h' }] }, 'proxy_hosts[0].forward_port'],
  ] as const) {
    expect(refusal(() => plan(document as never, stored))).toBe(
      `400 ${message} is required: there is no such object yet`,
    );
  }
});

test('an exclusion is for the host that will have the domain it names, or for one that may come back', () => {
  const stored = storedWith({ proxy_hosts: [host(1, 'a.test,b.test'), host(2, 'goes.test')] });
  const security = (...waf_exclusions: object[]) => ({
    security: { waf_exclusions: waf_exclusions as WafExclusion[] },
  });
  const given = (steps: Step[]) => {
    const last = steps.findLast(({ section }) => section === 'security')?.undoing;
    return last?.does === 'update' ? last.fields.waf_exclusions : undefined;
  };
  const uuid = 'AAAAAAAA-0000-4000-8000-000000000000';
  expect(
    given(
      plan(
        security(
          { rule_id: 1, host: 'B.test', target: 'ARGS:q', path: '/x', expires_at: '2099-01-01T01:00:00+01:00' },
          { rule_id: '1-9', host_uuid: uuid, description: 'd' },
          { rule_id: '7' },
        ),
        stored,
      ),
    ),
  ).toEqual([
    {
      ...{ rule_id: 1, target: 'ARGS:q', host_uuid: 'u1', path: '/x', expires_at: '2099-01-01T00:00:00.000Z' },
      description: '',
    },
    { rule_id: '1-9', host_uuid: uuid.toLowerCase(), description: 'd' },
    { rule_id: 7, description: '' },
  ]);
  const hosts = { proxy_hosts: [{ domain: 'new.test', forward_host: 'h', forward_port: 1 }] };
  const fresh = plan({ ...hosts, ...security({ rule_id: 1, host: 'new.test' }) }, stored);
  const made = undoings(fresh).find((one) => one.does === 'restore');
  expect(given(fresh)).toEqual([{ rule_id: 1, host_uuid: made?.key, description: '' }]);
  const gone = { ...hosts, ...security({ rule_id: 1 }, { rule_id: 1, host: 'goes.test' }) };
  expect(plan(gone, stored)).toHaveLength(2);
  expect(refusal(() => plan(gone, stored, true))).toBe(
    '400 security.waf_exclusions[1].host names no proxy host: "goes.test"',
  );
  expect(refusal(() => plan(security({ rule_id: 1, host: 'a.test', host_uuid: uuid }), stored))).toBe(
    '400 security.waf_exclusions[0].host can not be given together with host_uuid',
  );
});
