import { readFileSync, writeFileSync } from 'node:fs';
import { ownCountryDatabase } from '@sallyport/access/country-database';
import type {
  Block,
  BlockStatistics,
  BlockSummary,
  ErrorBody,
  ProxyHost,
  SecurityConfigAnswer,
} from '@sallyport/contract';
import { openDatabase } from '@sallyport/store/database/open';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeCountryDatabase } from '../../../../../../test/support/country-database.ts';
import { eventually } from '../../../../../../test/support/eventually.ts';
import { guardBlock, sendLines } from '../../../testing/guard-line.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

onBothDatabases('blocked requests', (kind) => {
  let app: TestApp;
  let bearer: Record<string, string>;
  beforeAll(async () => {
    // Sessions outlive the restart below.
    app = await startApp(kind, { SALLYPORT_SESSION_SECRET: 's'.repeat(32) });
    const setup = await app.send<{ token: string }>('POST', '/setup', {
      email: 'admin@example.com',
      password: 'a long enough password',
    });
    bearer = { authorization: `Bearer ${setup.body.token}` };
  });
  afterAll(() => app.stop());

  const find = (reference: string) =>
    app.send<Block & ErrorBody>('GET', `/security/blocks/${encodeURIComponent(reference)}`, undefined, bearer);
  const setEntries = (value: string) =>
    app.send('POST', '/settings', { key: 'security.block_log.entries', value }, bearer);
  const found = async (reference: string) => {
    await eventually(async () => (await find(reference)).status).toBe(200);
    return (await find(reference)).body;
  };

  test('explains a refusal to an administrator only', async () => {
    await sendLines(app.dataDir, [guardBlock({ reference: 'first' })]);
    expect(await found('first')).toMatchObject({
      reference: 'first',
      timestamp: '2026-11-20T12:00:00.000Z',
      layer: 'waf',
      monitored: false,
      status: 403,
      reason: 'anomaly score 5 of 5',
      ip: '203.0.113.7',
      host: 'app.example.com',
      host_uuid: null,
      method: 'GET',
      request_uri: '/search?q=%27%20or%201=1',
      user_agent: 'curl/8',
      rule_id: 942100,
      variable: 'ARGS:q',
      value: "' or 1=1",
    });
    expect(await app.send('GET', '/security/blocks/first')).toMatchObject({
      status: 403,
      body: { error: 'Admin access required' },
    });
    for (const unknown of ['second', 'first%', "' or 1=1", 'x'.repeat(128)]) {
      expect((await find(unknown)).status).toBe(404);
    }
  });

  test('shows no secret of the address that was asked for', async () => {
    const request_uri = '/login?user=x&password=hunter2';
    await sendLines(app.dataDir, [guardBlock({ reference: 'secret', request_uri })]);
    expect(await found('secret')).toMatchObject({ request_uri: '/login?user=x&password=***' });
  });

  test('suggests the narrowest exclusion, which can be posted as it is', async () => {
    const host = await app.send<ProxyHost>(
      'POST',
      '/proxy-hosts',
      { domain: 'app.example.com', forward_host: '127.0.0.1', forward_port: 9 },
      bearer,
    );
    // The guards know hosts by the id that routes carry; the first host of an empty store is number one.
    await sendLines(app.dataDir, [guardBlock({ reference: 'suggest', host_id: 1 })]);
    const block = await found('suggest');
    expect(block.host_uuid).toBe(host.body.uuid);
    expect(block.exclusions).toEqual([
      {
        rule_id: 942100,
        target: 'ARGS:q',
        host_uuid: host.body.uuid,
        path: '/search',
        description: 'Request suggest: SQL Injection Attack Detected via libinjection',
      },
    ]);
    const posted = await app.send<SecurityConfigAnswer>('POST', '/security/exclusions', block.exclusions[0], bearer);
    expect(posted.status).toBe(201);
    expect(posted.body.config?.waf_exclusions).toEqual(block.exclusions);
  });

  test('a target that can not be written into rules is left out of the suggestion', async () => {
    const variable = 'ARGS:a"\nSecRuleEngine Off';
    const matches = [{ rule_id: 941100, message: '', variable, value: 'x', severity: null }];
    await sendLines(app.dataDir, [guardBlock({ reference: 'odd', matches, rule_id: 941100 })]);
    const { exclusions } = await found('odd');
    expect(exclusions).toEqual([{ rule_id: 941100, path: '/search', description: 'Request odd' }]);
  });

  test('nothing is suggested for what no rule decided', async () => {
    await sendLines(app.dataDir, [guardBlock({ reference: 'acl', layer: 'acl', rule_id: null, matches: [] })]);
    expect(await found('acl')).toMatchObject({ layer: 'acl', exclusions: [], rule_id: null, variable: null });
  });

  describe('are listed', () => {
    type Answer = { blocks: BlockSummary[] } & ErrorBody;
    const list = (query: string) => app.send<Answer>('GET', `/security/blocks${query}`, undefined, bearer);
    const references = async (query: string) => (await list(query)).body.blocks.map(({ reference }) => reference);
    test('newest first, as many as asked for', async () => {
      await sendLines(app.dataDir, [
        guardBlock({ reference: 'l1', host: 'Shop.example.com', layer: 'acl', rule_id: null, matches: [] }),
        guardBlock({ reference: 'l2', host: 'shop.example.com', ip: '2001:db8::1' }),
        guardBlock({ reference: 'l3', host: 'blog.example.com', ip: '192.0.2.9' }),
        guardBlock({ reference: 'l4', host: 'blog.example.com', ip: '2001:db8::1' }),
      ]);
      await found('l4');
      expect(await references('?limit=3')).toEqual(['l4', 'l3', 'l2']);
      expect((await references('')).length).toBeGreaterThan(4);
    });

    test('by layer, host and client, also together', async () => {
      expect(await references('?host=SHOP.example.com')).toEqual(['l2', 'l1']);
      expect(await references('?host=shop.example.com&layer=waf')).toEqual(['l2']);
      expect(await references('?ip=2001:DB8:0::1')).toEqual(['l4', 'l2']);
      expect(await references('?ip=::ffff:192.0.2.9')).toEqual(['l3']);
      expect(await references('?layer=rate_limit')).toEqual([]);
    });

    test('with what the look-up says, but for the rules and what to do about them', async () => {
      const { matches, exclusions, ...summary } = (await find('l3')).body;
      expect((await list('?ip=192.0.2.9')).body.blocks).toEqual([summary]);
    });

    test.each([
      ['limit=0', 'limit must be between 1 and 1000'],
      ['limit=1001', 'limit must be between 1 and 1000'],
      ['layer=moat', 'layer must be one of: decision, rate_limit'],
      ['ip=10.0.0.0/8', 'ip must be an IP address, not a range'],
      ['ip=here', 'ip "here" is not an IP address'],
      ['host=', 'host is required'],
    ])('not with %s', async (query, message) => {
      const answer = await list(`?${query}`);
      expect(answer.status).toBe(400);
      expect(answer.body.error).toContain(message);
    });

    test('to administrators only', async () => {
      expect(await app.send('GET', '/security/blocks')).toMatchObject({
        status: 403,
        body: { error: 'Admin access required' },
      });
    });
  });

  describe('are counted', () => {
    type Answer = BlockStatistics & ErrorBody;
    const count = (query: string) => app.send<Answer>('GET', `/security/blocks/summary?${query}`, undefined, bearer);
    const day = 'since=2026-10-01T00:00:00Z&until=2026-10-02T00:00:00Z';
    /** By the hour of that day. */
    const at = (hour: string) => `2026-10-01T${hour}.000Z`;

    const writeCountries = () =>
      writeCountryDatabase(
        ownCountryDatabase(app.dataDir),
        { '198.51.100.0/24': 'DE', '203.0.113.0/25': 'FR' },
        (code) => ({ country_code: code }),
      );

    test('all that are kept of a time, by when, host, rule, address and country', async () => {
      writeCountries();
      await app.restart();
      writeFileSync(ownCountryDatabase(app.dataDir), 'broken');
      const acl = { layer: 'acl', rule_id: null, matches: [] };
      // More than are read at once, each of a client of its own.
      const many = Array.from({ length: 600 }, (_, index) =>
        guardBlock({
          ...{ reference: `many-${index}`, timestamp: at('23:59:59'), host: 'Many.example.com' },
          ip: `198.51.100.${index % 200}`,
        }),
      );
      await sendLines(app.dataDir, [
        guardBlock({ reference: 's1', timestamp: '2026-09-30T23:59:59.999Z' }),
        guardBlock({ reference: 's2', timestamp: at('00:00:00'), ip: '203.0.113.7', host: 'a.example.com' }),
        guardBlock({ reference: 's3', timestamp: at('06:30:00'), ip: '203.0.113.7', host: '', monitored: true }),
        ...many,
        // Told late, as what HAProxy still held.
        guardBlock({ reference: 's4', timestamp: at('07:59:59'), ip: '192.0.2.1', host: 'A.example.com', ...acl }),
        guardBlock({ reference: 's5', timestamp: '2026-10-02T00:00:00.000Z' }),
      ]);
      await found('s5');
      expect((await count(day)).body).toMatchObject({ total: { count: 602 }, countries: null });
      writeCountries();
      const { status, body } = await count(`${day}&parts=3`);
      expect(status).toBe(200);
      const message = 'SQL Injection Attack Detected via libinjection';
      expect({ ...body, addresses: undefined }).toEqual({
        since: '2026-10-01T00:00:00.000Z',
        until: '2026-10-02T00:00:00.000Z',
        complete_since: '2026-10-01T00:00:00.000Z',
        total: { count: 602, monitored: 1 },
        over_time: [
          { at: '2026-10-01T00:00:00.000Z', count: 2, monitored: 1 },
          { at: '2026-10-01T08:00:00.000Z', count: 0, monitored: 0 },
          { at: '2026-10-01T16:00:00.000Z', count: 600, monitored: 0 },
        ],
        hosts: [
          { host: 'many.example.com', count: 600, monitored: 0 },
          { host: 'a.example.com', count: 2, monitored: 0 },
        ],
        rules: [
          { rule_id: 942100, layer: 'waf', message, count: 601, monitored: 1 },
          { rule_id: null, layer: 'acl', count: 1, monitored: 0 },
        ],
        countries: [
          { country: 'DE', count: 600, monitored: 0 },
          { country: 'FR', count: 1, monitored: 1 },
          { country: null, count: 1, monitored: 0 },
        ],
      });
      expect(body.addresses).toHaveLength(10);
      expect(body.addresses[0]).toMatchObject({ country: 'DE', count: 3, monitored: 0 });
    });

    test('and the entries of one country are listed, or those of none', async () => {
      await sendLines(app.dataDir, [
        guardBlock({ reference: 'c1', host: 'of.example.com', ip: '198.51.100.9' }),
        guardBlock({ reference: 'c2', host: 'of.example.com', ip: '192.0.2.99' }),
      ]);
      await found('c2');
      const list = async (query: string) => {
        const path = `/security/blocks?host=of.example.com&${query}`;
        const { body } = await app.send<{ blocks: BlockSummary[] }>('GET', path, undefined, bearer);
        return body.blocks.map(({ reference }) => reference);
      };
      expect(await list('country=DE')).toEqual(['c1']);
      expect(await list('country=de')).toEqual(['c1']);
      expect(await list('country=FR')).toEqual([]);
      expect(await list('country=unknown')).toEqual(['c2']);
      const refused = await app.send<ErrorBody>('GET', '/security/blocks?country=Germany', undefined, bearer);
      expect(refused).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^country /) } });
    });

    test('anew when more came or some went, and the same otherwise', async () => {
      const first = (await count(day)).body;
      expect(first.over_time).toHaveLength(48);
      expect((await count(day)).body).toEqual(first);
      await sendLines(app.dataDir, [guardBlock({ reference: 's6', timestamp: at('12:00:00') })]);
      await found('s6');
      // An answer may be told again for a moment.
      await eventually(async () => (await count(day)).body.total).toEqual({ count: 603, monitored: 1 });
      expect((await count('since=2026-10-01T23:00:00Z&until=2026-10-02T00:00:00Z')).body.total.count).toBe(600);
      const now = (await count('')).body;
      expect(Date.parse(now.until) - Date.parse(now.since)).toBe(86_400_000);
    });

    test.each([
      ['since=yesterday', 'since must be a valid date-time'],
      ['until=2026-11-20', 'until must be a valid date-time'],
      ['since=2016-12-31T23:59:60Z', 'since must be a valid date-time'],
      ['since=2026-10-02T00:00:00Z&until=2026-10-02T00:00:00Z', 'since must be before until'],
      ['since=2999-01-01T00:00:00Z', 'since must be before until'],
      ['parts=0', 'parts must be between 1 and 200'],
      ['parts=201', 'parts must be between 1 and 200'],
      ['limit=3', 'limit'],
    ])('not with %s', async (query, message) => {
      const answer = await count(query);
      expect(answer.status).toBe(400);
      expect(answer.body.error).toContain(message);
    });
  });

  test('one client that is refused again and again does not push out what others need explained', async () => {
    await setEntries('2000');
    const refusal = (fields: object) => guardBlock({ layer: 'acl', rule_id: null, matches: [], ...fields });
    const flood = Array.from({ length: 5_000 }, (_, index) =>
      refusal({ reference: `flood-${index}`, ip: '192.0.2.66' }),
    );
    await sendLines(app.dataDir, [guardBlock({ reference: 'needed', ip: '192.0.2.1' }), ...flood]);
    await sendLines(app.dataDir, [guardBlock({ reference: 'after', ip: '192.0.2.2' })]);
    await found('after');
    expect((await find('needed')).status).toBe(200);
    const { body } = await app.send<{ blocks: unknown[] }>('GET', '/security/blocks?ip=192.0.2.66', undefined, bearer);
    expect(body.blocks.length).toBeGreaterThan(0);
    expect(await (await fetch(`${app.url}/api/v1/metrics`)).text()).toMatch(
      /^sallyport_blocks_dropped_total [1-9]\d*$/m,
    );
    await setEntries('10000');
  });

  test('keeps the newest entries only, and none when it is switched off', async () => {
    await setEntries('3');
    const references = ['a', 'b', 'c', 'd', 'e'];
    await sendLines(
      app.dataDir,
      references.map((reference) => guardBlock({ reference })),
    );
    await found('e');
    expect((await find('b')).status).toBe(404);
    expect((await find('c')).status).toBe(200);
    const path = '/security/blocks/summary?since=2026-11-20T00:00:00Z&until=2026-11-21T00:00:00Z';
    const count = async () => (await app.send<BlockStatistics>('GET', path, undefined, bearer)).body;
    // What was before was dropped: nothing is known of it.
    expect(await count()).toMatchObject({ total: { count: 3 }, complete_since: '2026-11-20T12:00:00.000Z' });
    const database = openDatabase(app.config);
    // As an earlier version kept them, and one without a country database.
    await database.kysely.updateTable('security_blocks').set({ country: '' }).execute();
    await app.restart();
    expect((await find('d')).status).toBe(200);
    const countries = () => database.kysely.selectFrom('security_blocks').select('country').execute();
    await eventually(countries).toEqual(['c', 'd', 'e'].map(() => ({ country: 'FR' })));
    // What is refused while the country database can't be read is looked up when it can be.
    await setEntries('10');
    await app.restart();
    const databasePath = ownCountryDatabase(app.dataDir);
    const readable = readFileSync(databasePath);
    writeFileSync(databasePath, 'no database');
    await sendLines(app.dataDir, [guardBlock({ reference: 'unread' })]);
    await found('unread');
    expect(await countries()).toContainEqual({ country: '' });
    writeFileSync(databasePath, readable);
    await sendLines(app.dataDir, [guardBlock({ reference: 'read' })]);
    await found('read');
    await eventually(countries).toEqual(Array.from({ length: 5 }, () => ({ country: 'FR' })));
    if (kind === 'postgres') {
      // As a node of an earlier version keeps them, while another one is up to date already.
      const untold = { at_ms: 0, monitored: 0, rule_id: null, country: '' };
      await database.kysely.updateTable('security_blocks').set(untold).execute();
      const broken = { ...untold, layer: 'acl', host: 'a.example.com', ip: '192.0.2.1', host_id: null };
      const rows = ['no moment', '{"timestamp":'].map((reference) => ({ ...broken, reference, entry: reference }));
      await database.kysely.insertInto('security_blocks').values(rows).execute();
      await eventually(count).toMatchObject({ total: { count: 5 }, complete_since: '2026-11-20T12:00:00.000Z' });
      // Their countries follow when the next one is refused.
      await setEntries('20');
      await sendLines(app.dataDir, [guardBlock({ reference: 'next' })]);
      await found('next');
      const known = async () => (await countries()).filter(({ country }) => country === 'FR').length;
      await eventually(known).toBe(6);
      await database.kysely.deleteFrom('security_blocks').where('host_id', 'is', null).where('at_ms', '<', 0).execute();
    }
    await database.stop();
    await setEntries('0');
    await sendLines(app.dataDir, [guardBlock({ reference: 'f' })]);
    await eventually(async () => (await find('d')).status).toBe(404);
    expect((await find('f')).status).toBe(404);
    await eventually(count).toMatchObject({ total: { count: 0 }, complete_since: '2026-11-21T00:00:00.000Z' });
  });
});
