import { createHmac } from 'node:crypto';
import type { NotificationDeliveries, NotificationTest } from '@sallyport/contract';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../../../../test/support/eventually.ts';
import { guardBlock, sendLines } from '../../../testing/guard-line.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';
import { startWebhookServer } from '../../../testing/webhook-server.ts';

const SETTINGS = '/security/notifications/settings';

onBothDatabases('notifications', (kind) => {
  let app: TestApp;
  let hook: Awaited<ReturnType<typeof startWebhookServer>>;
  let answer: () => number | Promise<number>;
  beforeAll(async () => {
    hook = await startWebhookServer(() => answer());
    app = await startApp(kind, {}, { addressPolicy: hook.addressPolicy });
  });
  beforeEach(async () => {
    answer = () => 204;
    await app.send('PUT', SETTINGS, {
      enabled: true,
      min_log_level: 'debug',
      notify_waf_blocks: true,
      notify_acl_denials: true,
      notify_rate_limit_hits: true,
      webhook_url: `${hook.url}/hook`,
      webhook_format: 'generic',
      webhook_secret: '',
    });
  });
  afterEach(() => {
    hook.received.length = 0;
  });
  afterAll(async () => {
    await app.stop();
    await hook.stop();
  });

  const set = (body: object) => app.send('PUT', SETTINGS, body);
  const send = (...blocks: object[]) => sendLines(app.dataDir, blocks);
  const bodies = () => hook.received.map(({ body }) => JSON.parse(body));
  const metric = async (name: string) =>
    Number(new RegExp(`^${name} (\\S+)$`, 'm').exec((await app.send<string>('GET', '/metrics')).body)?.[1]);

  test('arrive with the payload of the spec', async () => {
    await send(guardBlock());
    await eventually(bodies).toHaveLength(1);
    expect(bodies()[0]).toEqual({
      event_type: 'waf_block',
      severity: 'warn',
      timestamp: '2026-11-20T12:00:00.000Z',
      message: 'Request blocked by the web application firewall: anomaly score 5 of 5',
      details: {
        ip: '203.0.113.7',
        rule_id: 942100,
        request_uri: '/search?q=%27%20or%201=1',
        user_agent: 'curl/8',
        host: 'app.example.com',
        reference: '0f9c2f7e-0000-4000-8000-000000000001',
      },
    });
    const [delivery] = hook.received;
    expect(delivery?.path).toBe('/hook');
    expect(delivery?.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(delivery?.headers['user-agent']).toMatch(/^Sallyport/);
    expect(delivery?.headers['x-sallyport-signature']).toBeUndefined();
  });

  test('carry a signature when there is a secret', async () => {
    await set({ webhook_secret: 'hush' });
    await send(guardBlock());
    await eventually(bodies).toHaveLength(1);
    const [delivery] = hook.received;
    const expected = createHmac('sha256', 'hush')
      .update(delivery?.body ?? '')
      .digest('hex');
    expect(delivery?.headers['x-sallyport-signature']).toBe(`sha256=${expected}`);
  });

  const all = () => [
    guardBlock({ reference: 'w' }),
    guardBlock({ reference: 'm', monitored: true }),
    guardBlock({ reference: 'a', layer: 'acl', rule_id: null, matches: [] }),
    {
      ...{ time: '2026-11-20T12:00:00Z', client: '203.0.113.7', reference: 'r', status: 429, refused: 'rate_limit' },
      ...{ host: 'a', host_id: '7', method: 'GET', uri: '/' },
    },
    // Always last and always wanted: when it is there, the others had their turn.
    guardBlock({ reference: 'end' }),
  ];

  test.each<[string, object, string[]]>([
    ['every class', {}, ['waf_block w', 'acl_denial a', 'rate_limit_hit r', 'waf_block end']],
    ['no access lists', { notify_acl_denials: false }, ['waf_block w', 'rate_limit_hit r', 'waf_block end']],
    ['no rate limits', { notify_rate_limit_hits: false }, ['waf_block w', 'acl_denial a', 'waf_block end']],
    [
      'least level warn',
      { min_log_level: 'warn' },
      ['waf_block w', 'acl_denial a', 'rate_limit_hit r', 'waf_block end'],
    ],
  ])('are filtered by class and severity: %s', async (_what, settings, expected) => {
    await set(settings);
    await send(...all());
    const kinds = () =>
      bodies()
        .map(({ event_type, details }) => `${event_type} ${details.reference}`)
        .sort();
    await eventually(kinds).toEqual([...expected].sort());
  });

  test.each([{ enabled: false }, { min_log_level: 'error' }, { notify_waf_blocks: false }])(
    'are not sent with %j',
    async (settings) => {
      await set(settings);
      const filtered = await metric('sallyport_notifications_filtered_total');
      await send(guardBlock());
      await eventually(() => metric('sallyport_notifications_filtered_total')).toBe(filtered + 1);
      await set({ enabled: true, min_log_level: 'debug', notify_waf_blocks: true });
      await send(guardBlock({ reference: 'later' }));
      await eventually(() => bodies().map(({ details }) => details.reference)).toEqual(['later']);
    },
  );

  test.each([400, 404, 410, 302])('are not repeated after status %d', async (status) => {
    const failed = await metric('sallyport_notifications_failed_total');
    answer = () => status;
    await send(guardBlock());
    await eventually(() => metric('sallyport_notifications_failed_total')).toBe(failed + 1);
    expect(bodies()).toHaveLength(1);
  });

  test('that do not fit the queue are dropped and counted, and nobody waits', async () => {
    const dropped = await metric('sallyport_notifications_dropped_total');
    const open: (() => void)[] = [];
    answer = () => new Promise((resolve) => open.push(() => resolve(200)));
    await send(...Array.from({ length: 1_100 }, (_, index) => guardBlock({ reference: `n${index}` })));
    // Four are on their way, a thousand wait.
    await eventually(() => metric('sallyport_notifications_dropped_total')).toBe(dropped + 96);
    expect((await app.send('GET', '/health')).status).toBe(200);
    await set({ enabled: false });
    answer = () => 200;
    for (const release of open) release();
    await eventually(() => metric('sallyport_notifications_queued')).toBe(0);
  });

  test('go nowhere but to public addresses, whatever was stored', async () => {
    await set({ webhook_url: 'https://hooks.invalid/x' });
    const failed = await metric('sallyport_notifications_failed_total');
    const test = await app.send<NotificationTest>('POST', '/security/notifications/test');
    expect(test.body.webhook).toEqual({ attempted: true, delivered: false, error: 'the host name does not resolve' });
    expect(await metric('sallyport_notifications_failed_total')).toBe(failed);
  });

  test('can be tested, and the answer says what came of it', async () => {
    const ok = await app.send<NotificationTest>('POST', '/security/notifications/test');
    expect(ok.body).toEqual({
      webhook: { attempted: true, delivered: true, error: '' },
      email: { attempted: false, delivered: false, error: '' },
    });
    expect(bodies()[0]).toMatchObject({ event_type: 'test', severity: 'info' });
    answer = () => 500;
    await set({ enabled: false, email_recipients: 'a@example.com' });
    const failed = await app.send<NotificationTest>('POST', '/security/notifications/test');
    expect(failed.body).toEqual({
      webhook: { attempted: true, delivered: false, error: 'the webhook answered with status 500' },
      email: { attempted: true, delivered: false, error: 'mail was not sent to 1 of 1 recipients' },
    });
    await set({ email_recipients: '' });
    const told = await app.send<NotificationDeliveries>('GET', '/security/notifications/deliveries');
    const ofTests = told.body.deliveries.slice(0, 3);
    expect(ofTests.map(({ channel, state, error }) => [channel, state, error]).sort()).toEqual([
      ['email', 'failed', 'mail was not sent to 1 of 1 recipients'],
      ['webhook', 'delivered', ''],
      ['webhook', 'failed', 'the webhook answered with status 500'],
    ]);
    expect(ofTests.every(({ event_type }) => event_type === 'test')).toBe(true);
    expect(JSON.stringify(told.body)).not.toContain('/hook');
    const page = (query: string) =>
      app.send<NotificationDeliveries>('GET', `/security/notifications/deliveries${query}`);
    const second = await page('?page=2&per_page=1');
    expect(second.body).toEqual({ ...told.body, deliveries: told.body.deliveries.slice(1, 2) });
    expect(second.headers.get('x-total-count')).toBe(String(told.body.deliveries.length));
    expect(second.headers.get('link')).toContain('rel="next"');
    const failures = await page('?search=STATUS%20500&sort=id');
    expect(failures.body.deliveries.map(({ error }) => error)).toContain('the webhook answered with status 500');
    const ids = (await page('?sort=id')).body.deliveries.map(({ id }) => id);
    expect(ids).toEqual(told.body.deliveries.map(({ id }) => id).reverse());
  });

  test("go to the security configuration's webhook when the settings name none", async () => {
    await app.send('POST', '/security/config', { webhook_url: `${hook.url}/other` });
    await set({ webhook_url: '' });
    await send(guardBlock());
    await eventually(() => hook.received.map(({ path }) => path)).toEqual(['/other']);
  });

  describe('formats', () => {
    test('Discord gets an embed with a colour, and nobody is mentioned', async () => {
      await set({ webhook_format: 'discord' });
      await send(guardBlock({ user_agent: '@everyone **x**' }));
      await eventually(bodies).toHaveLength(1);
      expect(bodies()[0]).toMatchObject({
        embeds: [{ title: 'Request blocked by the firewall', color: 0xf39c12, timestamp: '2026-11-20T12:00:00.000Z' }],
        allowed_mentions: { parse: [] },
      });
      expect(hook.received[0]?.body).not.toContain('@everyone **x**');
    });

    test('Slack gets an attachment with a colour, and no mark-up of an attacker', async () => {
      await set({ webhook_format: 'slack' });
      await send(guardBlock({ request_uri: '/<!channel>&x' }));
      await eventually(bodies).toHaveLength(1);
      expect(bodies()[0]).toMatchObject({ attachments: [{ color: '#f39c12', ts: 1_795_176_000 }] });
      expect(hook.received[0]?.body).toContain('/&lt;!channel&gt;&amp;x');
    });

    test('Gotify gets a priority', async () => {
      await set({ webhook_format: 'gotify' });
      await send(guardBlock());
      await eventually(bodies).toHaveLength(1);
      expect(bodies()[0]).toMatchObject({ title: 'Request blocked by the firewall', priority: 5 });
    });

    test('a template gets its six variables, whatever an attacker puts into them', async () => {
      const webhook_template = JSON.stringify({
        text: '{{Title}}|{{ .Message }}|{{EventType}}|{{Severity}}|{{HostName}}|{{Timestamp}}',
        list: ['{{Severity}}', 1, null],
      });
      await set({ webhook_format: 'template', webhook_template });
      await send(guardBlock({ reason: '","x":"{{HostName}}' }));
      await eventually(bodies).toHaveLength(1);
      expect(bodies()[0]).toEqual({
        text: 'Request blocked by the firewall|Request blocked by the web application firewall: ","x":"{{HostName}}|waf_block|warning|app.example.com|2026-11-20T12:00:00.000Z',
        list: ['warning', 1, null],
      });
    });
  });
});
