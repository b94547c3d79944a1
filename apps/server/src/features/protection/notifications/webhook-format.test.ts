import { NOTIFICATION_DEFAULTS, type NotificationEvent, type NotificationSettings } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { isWanted } from './notifier.ts';
import { checkTemplate, renderTemplate } from './template.ts';
import { formatOf, webhookBody } from './webhook-format.ts';

const event = (more: Partial<NotificationEvent> = {}): NotificationEvent => ({
  ...{ event_type: 'waf_block', severity: 'warn', timestamp: '2026-11-20T12:00:00.000Z', message: 'blocked' },
  ...{ details: { host: 'a.test', ip: '192.0.2.1', empty: '', none: null } },
  ...more,
});
const settings = (more: Partial<NotificationSettings> = {}): NotificationSettings => ({
  ...{ ...NOTIFICATION_DEFAULTS, enabled: true, webhook_secret_set: false },
  ...more,
});
const body = (webhook_format: NotificationSettings['webhook_format'], of = event()) =>
  JSON.parse(webhookBody(settings({ webhook_format }), of));

test.each([
  ['https://discord.com/api/webhooks/1/x', 'discord'],
  ['https://ptb.discord.com/api/webhooks/1/x', 'discord'],
  ['https://discordapp.com/api/webhooks/1/x', 'discord'],
  ['https://hooks.slack.com/services/x', 'slack'],
  ['https://slack.com/x', 'generic'],
  ['https://notdiscord.com/x', 'generic'],
  ['https://discord.com.evil.test/x', 'generic'],
  ['', 'generic'],
] as const)('auto means for %s the format %s', (webhook_url, format) => {
  expect(formatOf(settings({ webhook_url }))).toBe(format);
  expect(formatOf(settings({ webhook_url, webhook_format: 'gotify' }))).toBe('gotify');
});

test('what an attacker chose is text in each chat: no mention, no link, no mark-up', () => {
  const message = '@everyone <@&1> [here](https://evil.test) **b** <!channel> `x` & \\';
  const attacked = event({ message, details: { host: message } });
  const [embed] = body('discord', attacked).embeds;
  const inDiscord =
    '@\u200beveryone \\<@\u200b&1\\> \\[here\\]\\(https://evil.test\\) \\*\\*b\\*\\* \\<!channel\\> \\`x\\` & \\\\';
  // "<" alone starts nothing.
  const withoutLess = inDiscord.replaceAll('\\<', '<');
  expect(embed).toMatchObject({
    description: withoutLess,
    fields: [{ name: 'host', value: withoutLess, inline: true }],
  });
  expect(body('discord', attacked).allowed_mentions).toEqual({ parse: [] });
  const [attachment] = body('slack', attacked).attachments;
  const inSlack = message.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  expect(attachment).toMatchObject({ text: inSlack, fallback: inSlack, fields: [{ title: 'host', value: inSlack }] });
  expect(body('gotify', attacked)).toMatchObject({
    message: `${message}\nhost: ${message}`,
    extras: { 'client::display': { contentType: 'text/plain' } },
  });
  expect(body('generic', attacked)).toEqual(attacked);
});

test('what is empty is left out, and what is long is shortened before a chat refuses it', () => {
  const long = event({
    message: 'x'.repeat(9_000),
    details: Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`${'n'.repeat(300)}${at}`, 'y'.repeat(3_000)])),
  });
  const [embed] = body('discord', long).embeds;
  expect([embed.description.length, embed.fields.length]).toEqual([2_048, 25]);
  expect([embed.fields[0].name.length, embed.fields[0].value.length]).toEqual([256, 1_024]);
  const [attachment] = body('slack', long).attachments;
  expect([attachment.text.length, attachment.fallback.length, attachment.fields[0].value.length]).toEqual([
    3_000, 1_000, 1_000,
  ]);
  expect(body('discord').embeds[0].fields.map(({ name }: { name: string }) => name)).toEqual(['host', 'ip']);
  expect(body('gotify').message).toBe('blocked\nhost: a.test\nip: 192.0.2.1');
});

test('severities are told by colour or priority', () => {
  const told = (severity: NotificationEvent['severity']) => [
    body('discord', event({ severity })).embeds[0].color,
    body('slack', event({ severity })).attachments[0].color,
    body('gotify', event({ severity })).priority,
  ];
  expect((['debug', 'info', 'warn', 'error'] as const).map(told)).toEqual([
    [0x95a5a6, '#95a5a6', 0],
    [0x3498db, '#3498db', 2],
    [0xf39c12, '#f39c12', 5],
    [0xe74c3c, '#e74c3c', 8],
  ]);
  expect(body('slack').attachments[0].ts).toBe(Date.parse('2026-11-20T12:00:00Z') / 1_000);
});

test('a template is filled in where texts are, and what is filled in stays what it is', () => {
  const template = JSON.stringify({
    list: ['{{Title}} {{ .Severity }}', 1, null, true],
    deep: { '{{HostName}}': '{{HostName}} {{Timestamp}} {{EventType}}', text: '{{Message}}' },
  });
  checkTemplate(template);
  const message = '", "admin": true, "x": "{{Title}} $&';
  expect(JSON.parse(renderTemplate(template, event({ message })))).toEqual({
    list: ['Request blocked by the firewall warning', 1, null, true],
    deep: { '{{HostName}}': 'a.test 2026-11-20T12:00:00.000Z waf_block', text: message },
  });
  expect(renderTemplate('"{{HostName}}"', event({ details: {} }))).toBe('""');
  expect(() => checkTemplate('{{Title}}')).toThrow('webhook_template must be valid JSON');
  for (const name of ['Password', 'constructor', '.title']) {
    expect(() => checkTemplate(`"{{${name}}}"`)).toThrow('webhook_template has an unknown variable');
  }
});

test('every event has a headline, and a severity in the words of the spec', () => {
  const types = [
    'waf_block',
    'acl_denial',
    'rate_limit_hit',
    'emergency_unproven',
    'backup_failed',
    'change_reverted',
    'test',
  ] as const;
  const certificates = ['expiring', 'failed', 'renewed', 'revoked'].map(
    (what) => `certificate_${what}` as 'certificate_failed',
  );
  const titles = [...types, ...certificates].map((event_type) => renderTemplate('"{{Title}}"', event({ event_type })));
  expect(new Set(titles).size).toBe(11);
  expect(titles).not.toContain('""');
  const severities = (['debug', 'info', 'warn', 'error'] as const).map((severity) =>
    renderTemplate('"{{Severity}}"', event({ severity })),
  );
  expect(severities).toEqual(['"info"', '"info"', '"warning"', '"error"']);
});

test('an event is sent when its class is on, and it is severe enough; what concerns the proxy itself has no switch', () => {
  const wanted = (more: Partial<NotificationSettings>, of: Partial<NotificationEvent> = {}) =>
    isWanted(settings(more), event(of));
  for (const [event_type, off] of [
    ['waf_block', { notify_waf_blocks: false }],
    ['acl_denial', { notify_acl_denials: false }],
    ['rate_limit_hit', { notify_rate_limit_hits: false }],
  ] as const) {
    expect([wanted({}, { event_type }), wanted(off, { event_type })]).toEqual([true, false]);
    expect(wanted(off, { event_type: 'certificate_failed' })).toBe(true);
  }
  const allOff = { notify_waf_blocks: false, notify_acl_denials: false, notify_rate_limit_hits: false };
  for (const event_type of ['emergency_unproven', 'backup_failed', 'change_reverted', 'certificate_revoked'] as const) {
    expect(wanted(allOff, { event_type })).toBe(true);
  }
  expect(wanted({ enabled: false })).toBe(false);
  expect([wanted({ min_log_level: 'warn' }), wanted({ min_log_level: 'error' })]).toEqual([true, false]);
});
