import { expect, test } from 'vitest';
import { checkFields, knownType } from './check-fields.ts';
import { OWN_TYPES } from './own-types.ts';
import type { KnownType } from './types.ts';

const [rfc2136, webhook] = OWN_TYPES.map((one) => ({ ...one, fields: [...one.fields] })) as [KnownType, KnownType];
const lego: KnownType = {
  ...{ type: 'cloud', name: 'Cloud' },
  fields: [
    { key: 'CLOUD_TOKEN', label: '', secret: true, required: true },
    { key: 'CLOUD_TTL', label: '', secret: false, required: false },
  ],
};
const byKey = { nameserver: 'ns.test', tsig_key_name: 'key', tsig_secret: 'c2VjcmV0' };

test('fields are trimmed, checked and told apart by whether they are secret', () => {
  const given = {
    ...byKey,
    nameserver: ' [2001:DB8::1] ',
    zone: 'Zone.test.',
    port: '53',
    ttl: '',
    tsig_algorithm: null,
  };
  expect(checkFields(rfc2136, given)).toEqual({
    type: 'rfc2136',
    fields: { nameserver: '2001:db8::1', zone: 'zone.test', port: '53', tsig_key_name: 'key' },
    secrets: { tsig_secret: 'c2VjcmV0' },
  });
  expect(checkFields(lego, { CLOUD_TOKEN: '{\n\t"key": "x"\r\n}', CLOUD_TTL: '1' })).toEqual({
    ...{ type: 'cloud', fields: { CLOUD_TTL: '1' } },
    secrets: { CLOUD_TOKEN: '{\n\t"key": "x"\r\n}' },
  });
});

test('a secret that is not given stays; null or nothing takes it away, and what is no secret of the type is not kept', () => {
  const kept = { tsig_secret: 'b2xk', nameserver: 'old.test', bearer_token: 'of another type' };
  expect(checkFields(rfc2136, { nameserver: 'ns.test', tsig_key_name: 'key' }, kept)).toMatchObject({
    fields: { nameserver: 'ns.test' },
    secrets: { tsig_secret: 'b2xk' },
  });
  expect(checkFields(rfc2136, byKey, kept).secrets).toEqual({ tsig_secret: 'c2VjcmV0' });
  for (const tsig_secret of [null, ' ']) {
    expect(checkFields(rfc2136, { nameserver: 'ns.test', tsig_secret }, kept).secrets).toEqual({});
  }
  expect(checkFields(lego, {}, { CLOUD_TOKEN: 'x' }).secrets).toEqual({ CLOUD_TOKEN: 'x' });
});

test.each([
  [rfc2136, {}, 'fields.nameserver is required'],
  [lego, { CLOUD_TOKEN: '' }, 'fields.CLOUD_TOKEN is required'],
  [rfc2136, { ...byKey, tsig_secret: null }, 'fields.tsig_secret is required with fields.tsig_key_name'],
  [rfc2136, { ...byKey, tsig_key_name: null }, 'fields.tsig_key_name is required with fields.tsig_secret'],
  [rfc2136, { ...byKey, url: 'x' }, 'fields.url is not a field of rfc2136'],
  [rfc2136, { ...byKey, 'a\nb': 'x' }, 'fields.a?b is not a field of rfc2136'],
  // What goes into nsupdate’s script has to stay one word of it.
  ...['ns.test\nsend', 'ns.test 53', 'http://ns.test', 'ns.test:53'].map(
    (nameserver) => [rfc2136, { ...byKey, nameserver }, 'fields.nameserver'] as const,
  ),
  ...['zone.test\nsend', 'zone test', '192.0.2.1'].map((zone) => [rfc2136, { ...byKey, zone }, 'fields.zone'] as const),
  ...['key\nsend', 'key secret', '-key', 'key-', 'hmac:key', 'k'.repeat(256)].map(
    (tsig_key_name) => [rfc2136, { ...byKey, tsig_key_name }, 'fields.tsig_key_name must be a name'] as const,
  ),
  ...['hmac-sha256 x', 'x hmac-sha256', 'HMAC-SHA256', 'hmac'].map(
    (tsig_algorithm) =>
      [rfc2136, { ...byKey, tsig_algorithm }, 'fields.tsig_algorithm must be one of: hmac-md5'] as const,
  ),
  ...['c2Vj\nsend', 'c2Vj cmV0', 'abc', 'c2VjcmV0===', '!!!!'].map(
    (tsig_secret) => [rfc2136, { ...byKey, tsig_secret }, 'fields.tsig_secret must be base64'] as const,
  ),
  ...['0', '65536', '53\nsend', '053', '-1', '5e1'].map(
    (port) => [rfc2136, { ...byKey, port }, 'fields.port must be a whole number between 1 and 65535'] as const,
  ),
  [rfc2136, { ...byKey, ttl: '86401' }, 'fields.ttl must be a whole number between 1 and 86400'],
  ...['ftp://hook.test/', 'hook.test', 'javascript:alert(1)', 'file:///etc/passwd'].map(
    (url) => [webhook, { url }, 'fields.url must be a URL that starts with https:// or http://'] as const,
  ),
  ...['https://me@hook.test/', 'https://:word@hook.test/'].map(
    (url) => [webhook, { url }, 'fields.url must not hold credentials'] as const,
  ),
  // What goes into a header has to stay in it.
  ...['a b', 'a\r\nx: y', 'ä'].map(
    (bearer_token) =>
      [webhook, { url: 'https://hook.test', bearer_token }, 'fields.bearer_token must be of printable ASCII'] as const,
  ),
  [webhook, { url: 'https://hook.test', signing_secret: 'a\nb' }, 'fields.signing_secret must be one line'],
  [lego, { CLOUD_TOKEN: 'a\0b' }, 'fields.CLOUD_TOKEN must be text without control characters'],
] as [KnownType, Record<string, string | null>, string][])('refuses %#', (type, given, message) => {
  expect(() => checkFields(type, given)).toThrow(message);
});

test('borders are within', () => {
  expect(
    checkFields(rfc2136, { ...byKey, port: '65535', ttl: '86400', tsig_key_name: `${'k'.repeat(253)}.` }).fields,
  ).toMatchObject({
    ...{ port: '65535', ttl: '86400' },
  });
  expect(checkFields(webhook, { url: 'http://10.0.0.1:8080/hook', bearer_token: '!~' }).secrets).toEqual({
    bearer_token: '!~',
  });
});

test('a type that nobody knows is told, with why', async () => {
  expect(await knownType({ find: async () => webhook }, 'webhook')).toBe(webhook);
  await expect(knownType({ find: async () => undefined }, 'x')).rejects.toThrow('type "x" is not known here; GET');
  const without = { find: () => Promise.reject(new Error('lego is not installed')) };
  await expect(knownType(without, 'x')).rejects.toThrow('type "x" is not known here: lego is not installed');
});
