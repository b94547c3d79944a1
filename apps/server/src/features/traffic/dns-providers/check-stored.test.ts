import { randomUUID } from 'node:crypto';
import { dnsProviderContext } from '@sallyport/store/secrets/contexts';
import { createVault } from '@sallyport/store/secrets/vault';
import { expect, test } from 'vitest';
import { createDnsProviderCheck } from './check-stored.ts';

const vault = createVault('k'.repeat(32));
const check = createDnsProviderCheck();
const AT = '2026-11-23T12:00:00.000Z';
const BIND = { nameserver: 'ns.test', tsig_key_name: 'key' };

const rowOf = (type: string, fields: unknown, secrets?: unknown, more: object = {}) => {
  const uuid = randomUUID();
  const secrets_sealed = secrets === undefined ? null : vault.seal(JSON.stringify(secrets), dnsProviderContext(uuid));
  const row = { id: 1, uuid, name: 'one', type, fields: JSON.stringify(fields), secrets_sealed };
  return { ...row, created_at: AT, updated_at: AT, ...more };
};

test('what could have been made here is taken, and what only a lego could judge', async () => {
  await check(rowOf('rfc2136', BIND, { tsig_secret: 'c2VjcmV0' }), vault);
  await check(rowOf('webhook', { url: 'http://10.0.0.1/' }), vault);
  await check(rowOf('webhook', { url: 'https://hook.test/' }, { signing_secret: 's', bearer_token: 'b' }), vault);
  await check(rowOf('cloudflare', { ANY: 'x' }, { OTHER: 'y' }), vault);
});

test.each([
  // Into nsupdate's script, and into headers, goes nothing that the API would have refused.
  ['a line for the script', rowOf('rfc2136', { ...BIND, nameserver: 'ns.test\nsend' }, { tsig_secret: 'c2VjcmV0' })],
  ['a secret for the script', rowOf('rfc2136', BIND, { tsig_secret: 'c2Vj\nsend' })],
  ['a header', rowOf('webhook', { url: 'https://hook.test/' }, { bearer_token: 'a\r\nb: c' })],
  ['half of a key', rowOf('rfc2136', BIND)],
  ['a secret among the fields', rowOf('webhook', { url: 'https://hook.test/', bearer_token: 'b' })],
  ['a field among the secrets', rowOf('webhook', {}, { url: 'https://hook.test/' })],
  ['what would be stored otherwise', rowOf('webhook', { url: ' https://hook.test/' })],
  ['a secret that would be stored otherwise', rowOf('webhook', { url: 'https://hook.test/' }, { bearer_token: 'b ' })],
  ['no object', rowOf('cloudflare', ['x'])],
  ['nothing', rowOf('cloudflare', null)],
  ['no texts', rowOf('cloudflare', { ANY: 7 })],
  ['secrets that are no texts', rowOf('cloudflare', {}, { ANY: [] })],
  ['secrets of another provider', { ...rowOf('webhook', { url: 'https://hook.test/' }, {}), uuid: randomUUID() }],
  ['no type', rowOf('', { ANY: 'x' })],
  ['no moment', rowOf('cloudflare', {}, {}, { updated_at: 'then' })],
])('refuses %s', async (_what, row) => {
  await expect(check(row, vault)).rejects.toThrow(Error);
});
