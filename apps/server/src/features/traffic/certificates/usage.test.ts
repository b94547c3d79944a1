import { certificateKeyContext } from '@sallyport/store/secrets/contexts';
import { createVault } from '@sallyport/store/secrets/vault';
import { expect, test } from 'vitest';
import { keptOf } from './kept.ts';
import { parseCertificateName } from './names.ts';
import { makePlaceholder } from './placeholder.ts';
import type { StoredCertificate } from './store.ts';
import { createBestMatch, endOf, isCovered } from './usage.ts';

const named = (id: number, domains: string, expires_at = '2027-01-01T00:00:00.000Z') => ({ id, domains, expires_at });

test('a certificate covers its own names, and one label in place of a star', () => {
  const names = ['example.com', '*.example.com'];
  for (const name of ['example.com', 'a.example.com', '*.example.com']) expect(isCovered(names, name)).toBe(true);
  for (const name of ['a.b.example.com', 'other.com', '*.a.example.com', '*.com'])
    expect(isCovered(names, name)).toBe(false);
  expect(isCovered(['example.com'], 'a.example.com')).toBe(false);
});

test('the exact name is served before the one of a wildcard, and of several what lasts longest, then the newest', () => {
  const [short, long, newer] = [named(1, 'a.test', '2026-12-01T00:00:00.000Z'), named(2, 'a.test'), named(3, 'a.test')];
  const wildcard = named(4, 'b.test,*.test', '2030-01-01T00:00:00.000Z');
  for (const all of [
    [short, long, newer, wildcard],
    [wildcard, newer, long, short],
  ]) {
    const match = createBestMatch(all);
    expect(['a.test', 'b.test', 'c.test', '*.test', 'c.a.test', '*.a.test'].map((name) => match(name)?.id)).toEqual([
      3,
      4,
      4,
      4,
      undefined,
      undefined,
    ]);
  }
});

test('one that was revoked is served only where there is no other', () => {
  const [revoked, other] = [
    { revoked_at: 'x', expires_at: '2030' },
    { revoked_at: null, expires_at: '2026' },
  ].map(endOf);
  expect([revoked, other]).toEqual(['1970-01-01T00:00:00.000Z', '2026']);
  expect(createBestMatch([named(9, 'a.test', revoked), named(1, 'a.test')])('a.test')?.id).toBe(1);
  expect(createBestMatch([named(9, 'a.test', revoked)])('a.test')?.id).toBe(9);
});

test('a name of a certificate is one of DNS, or an address', () => {
  expect(['*.Example.com', '192.0.2.1', '[2001:DB8::1]', '2001:db8:0::1'].map(parseCertificateName)).toEqual([
    '*.example.com',
    '192.0.2.1',
    '2001:db8::1',
    '2001:db8::1',
  ]);
  for (const wrong of ['[example.com]', '[192.0.2.11', '192.0.2.1]', '*', '1.2.3', ''])
    expect(() => parseCertificateName(wrong)).toThrow();
});

test('the history keeps the key with a certificate, unless it is sealed with one that is lost', () => {
  const vault = createVault('a key of the deployment that is long enough');
  const [uuid, other] = ['0b1c2d3e-0000-4000-8000-000000000001', '0b1c2d3e-0000-4000-8000-000000000002'];
  const key_sealed = vault.seal('PRIVATE', certificateKeyContext(uuid));
  const kept = (uuid: string, by = vault) => keptOf({ uuid, name: 'site', key_sealed } as StoredCertificate, by);
  expect(kept(uuid)).toEqual({ uuid, name: 'site', key_pem: 'PRIVATE' });
  // What is told then holds no secret either, sealed or not.
  const bare = [kept(uuid, createVault('another key of the deployment, long enough')), kept(other)];
  expect(bare.map((one) => [one.uuid, 'key_pem' in one])).toEqual([
    [uuid, false],
    [other, false],
  ]);
  expect(JSON.stringify(bare)).not.toContain(key_sealed);
});

test('what stands in for a certificate that is ordered has its names, from a day ago and for longer than anybody waits', async () => {
  const now = new Date('2026-11-20T12:00:00.000Z');
  const pair = await makePlaceholder(['a.test', '*.b.test'], now);
  expect(pair.names).toEqual(['a.test', '*.b.test']);
  expect(pair.notBefore).toEqual(new Date('2026-11-19T12:00:00.000Z'));
  expect(pair.notAfter.getTime() - now.getTime()).toBeGreaterThan(3_600 * 86_400_000);
  await expect(makePlaceholder([], now)).rejects.toThrow('a certificate needs a name');
});
