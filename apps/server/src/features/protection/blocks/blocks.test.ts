import type { Block, BlockSummary, ErrorBody, ProxyHost, SecurityConfigAnswer } from '@sallyport/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
    await app.restart();
    expect((await find('d')).status).toBe(200);
    await setEntries('0');
    await sendLines(app.dataDir, [guardBlock({ reference: 'f' })]);
    await eventually(async () => (await find('d')).status).toBe(404);
    expect((await find('f')).status).toBe(404);
  });
});
