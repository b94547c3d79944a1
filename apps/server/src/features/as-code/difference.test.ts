import { expect, test } from 'vitest';
import { host, list, ruleset, server, storedWith } from '../../testing/stored-config.ts';
import { differenceBetween } from './difference.ts';

test('what is different is told in the words of a document, of long values the beginning', () => {
  const before = storedWith({
    remote_servers: [server(1, 'rack'), server(2, 'goes')],
    access_lists: [list(3, 'office')],
    rulesets: [ruleset(4, 'house', 'a'.repeat(2_000)), ruleset(7, 'kept')],
    proxy_hosts: [host(5, 'a.test', { access_list_id: 3 })],
  });
  const after = storedWith({
    remote_servers: [server(1, 'rack')],
    access_lists: [list(3, 'office', { countries: Array.from({ length: 300 }, () => 'DE') })],
    rulesets: [ruleset(4, 'house', 'b'.repeat(1_000)), ruleset(7, 'kept')],
    proxy_hosts: [host(5, 'a.test', { waf_enabled: false }), host(6, 'b.test')],
    security: { ...before.security, waf_mode: 'monitor' },
    notifications: { ...before.notifications, webhook_url: 'https://secret.test', min_log_level: 'error' },
    settings: new Map([...before.settings, ['smtp.port', '25']]),
  });
  expect(differenceBetween(before, before)).toEqual([]);
  expect(differenceBetween(before, after)).toEqual([
    {
      ...{ section: 'settings', name: 'smtp.port', action: 'update' },
      fields: [{ field: 'value', before: null, after: 25 }],
    },
    {
      ...{ section: 'security', name: 'security', action: 'update' },
      fields: [{ field: 'waf_mode', before: null, after: 'monitor' }],
    },
    {
      ...{ section: 'notifications', name: 'notifications', action: 'update' },
      fields: [{ field: 'min_log_level', before: null, after: 'error' }],
    },
    {
      ...{ section: 'remote_servers', name: 'goes', action: 'delete' },
      fields: [
        { field: 'name', before: 'goes', after: null },
        { field: 'host', before: '192.0.2.1', after: null },
        { field: 'port', before: 2, after: null },
      ],
    },
    {
      ...{ section: 'access_lists', name: 'office', action: 'update' },
      fields: [{ field: 'countries', before: null, after: `[${'"DE",'.repeat(199)}"DE"… (1501 characters)` }],
    },
    {
      ...{ section: 'rulesets', name: 'house', action: 'update' },
      fields: [{ field: 'content', before: `${'a'.repeat(1_000)}… (2000 characters)`, after: 'b'.repeat(1_000) }],
    },
    {
      ...{ section: 'proxy_hosts', name: 'a.test', action: 'update' },
      fields: [
        { field: 'access_list', before: 'office', after: null },
        { field: 'waf_enabled', before: null, after: false },
      ],
    },
    {
      ...{ section: 'proxy_hosts', name: 'b.test', action: 'create' },
      fields: [
        { field: 'domain', before: null, after: 'b.test' },
        { field: 'forward_host', before: null, after: '192.0.2.1' },
        { field: 'forward_port', before: null, after: 80 },
      ],
    },
  ]);
  // A reset value is one that is told, too.
  expect(differenceBetween(after, before)[0]).toEqual({
    ...{ section: 'settings', name: 'smtp.port', action: 'update' },
    fields: [{ field: 'value', before: 25, after: null }],
  });
});
