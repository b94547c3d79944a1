import { expect, test } from 'vitest';
import { type SecurityEvent, toLogEntry, toNotification } from './security-event.ts';

const event = (more: Partial<SecurityEvent> = {}): SecurityEvent => ({
  ...{ reference: 'ref', timestamp: '2026-11-20T12:00:00.000Z', layer: 'waf', monitored: false, status: 403 },
  ...{ reason: 'SQL injection', ip: '192.0.2.1', host: 'a.test', host_id: 7, method: 'GET', request_uri: '/?q=1' },
  ...{ user_agent: 'curl', rule_id: 942100, variable: 'ARGS:q', value: 'secret', matches: [] },
  ...more,
});

test.each([
  ['waf', 'waf', 'warn', 'waf_block', 'Request blocked by the web application firewall'],
  ['acl', 'acl', 'warn', 'acl_denial', 'Blocked by access control list'],
  ['rate_limit', 'guard', 'warn', 'rate_limit_hit', 'Request over the rate limit refused'],
  ['decision', 'crowdsec', 'info', 'decision_refusal', 'Request of a banned address refused'],
  ['exploit', 'guard', 'warn', 'exploit_refusal', 'Exploit probe refused'],
  ['websocket', 'guard', 'warn', 'websocket_refusal', 'WebSocket upgrade refused'],
  ['guard', 'guard', 'error', 'guard_refusal', 'Request refused because it could not be judged'],
] as const)('a refusal by %s is told as what it is', (layer, source, level, kind, what) => {
  const entry = toLogEntry(event({ layer }));
  expect(entry).toMatchObject({ source, level, message: `${what}: SQL injection`, fields: { event: kind } });
  expect(toLogEntry(event({ layer, reason: '' })).message).toBe(what);
  const notification = toNotification(event({ layer }));
  const isSent = ['waf', 'acl', 'rate_limit'].includes(layer);
  expect(notification?.event_type).toBe(isSent ? kind : undefined);
});

test('what is told has where, who and by which rule, and not what the rule found', () => {
  const match = { rule_id: 942100, message: '', variable: 'ARGS:q', value: 'secret', severity: 2 };
  const told = event({ matches: [match] });
  expect(toLogEntry(told).fields).toEqual({
    ...{ event: 'waf_block', reference: 'ref', ip: '192.0.2.1', host: 'a.test', method: 'GET', request_uri: '/?q=1' },
    ...{ user_agent: 'curl', status: 403, rule_id: 942100, severity: 'CRITICAL' },
  });
  expect(toNotification(told)).toEqual({
    ...{ event_type: 'waf_block', severity: 'warn', timestamp: '2026-11-20T12:00:00.000Z' },
    message: 'Request blocked by the web application firewall: SQL injection',
    details: {
      ...{
        ip: '192.0.2.1',
        rule_id: 942100,
        request_uri: '/?q=1',
        user_agent: 'curl',
        host: 'a.test',
        reference: 'ref',
      },
    },
  });
  const without = event({ rule_id: null });
  for (const fields of [toLogEntry(without).fields, toNotification(without)?.details ?? {}]) {
    expect(Object.keys(fields)).not.toContain('rule_id');
  }
  const names = [0, 1, 2, 3, 4, 5, 6, 7].map(
    (severity) => toLogEntry(event({ matches: [{ ...match, severity }] })).fields.severity,
  );
  expect(names).toEqual(['EMERGENCY', 'ALERT', 'CRITICAL', 'ERROR', 'WARNING', 'NOTICE', 'INFO', 'DEBUG']);
  expect(toLogEntry(told).fields.severity).toBe('CRITICAL');
  expect(toLogEntry(event()).fields.severity).toBeUndefined();
});

test('what would have been blocked is told, and sent to nobody', () => {
  const monitored = event({ monitored: true });
  expect(toLogEntry(monitored)).toMatchObject({
    ...{ level: 'info', fields: { event: 'waf_monitored' } },
    message: 'Request would have been blocked by the web application firewall: SQL injection',
  });
  expect(toNotification(monitored)).toBeUndefined();
});
