import { expect, test } from 'vitest';
import { givenHost } from '../../../../../test/support/haproxy/given.ts';
import { createDesiredHost, NOWHERE } from './desired-host.ts';
import { createOriginResolver } from './origins/resolver.ts';
import type { HostRoute } from './source.ts';

const RESERVED = '169.254.169.254';

const given = async () => {
  const known = new Map([
    ['app.test', '192.0.2.5'],
    ['metadata.test', RESERVED],
  ]);
  const resolver = createOriginResolver({
    store: { all: async () => new Map(), save: async () => {} },
    lookup: async (name) => (known.has(name) ? [known.get(name)!] : []),
    clock: () => new Date(),
    timeoutMs: 60_000,
  });
  await resolver.ensure(['app.test', 'metadata.test', 'unknown.test']);
  const desired = createDesiredHost({
    resolver,
    reservedOrigin: (address, port) => (address === RESERVED && port === 80 ? 'an address of the cloud' : undefined),
    isOwnApi: (address, port) => address === '127.0.0.1' && port === 8_080,
  });
  return (originHost: string, parts: Partial<HostRoute> = {}) => {
    const route: HostRoute = {
      id: 1,
      originHost,
      originPort: 80,
      mayReachReserved: false,
      at: (address) => givenHost({ id: 1, names: ['a.test'], origin: { port: 80, address } }, { hsts_enabled: true }),
      ...parts,
    };
    const { host, issue } = desired(route);
    return { address: host.origin.address, flags: host.flags, issue };
  };
};

test('a route leads to what the name means', async () => {
  const desired = await given();
  expect(desired('app.test')).toMatchObject({ address: '192.0.2.5', issue: undefined });
  expect(desired('198.51.100.1')).toMatchObject({ address: '198.51.100.1', issue: undefined });
  expect(desired('app.test').flags).not.toHaveProperty('own_api');
});

test('one without an address leads nowhere, and says why', async () => {
  const desired = await given();
  const { address, issue } = desired('unknown.test');
  // Broadcast: nobody answers there, and nothing else is meant.
  expect(address).toBe('255.255.255.255');
  expect(issue).toContain('unknown.test');
});

test('one that has come to mean a reserved address leads nowhere, unless an administrator has allowed it', async () => {
  const desired = await given();
  const issue = 'forward_host is an address of the cloud; an administrator can allow it (forward_reserved)';
  for (const origin of ['metadata.test', RESERVED]) {
    expect(desired(origin)).toMatchObject({ address: NOWHERE, issue });
    expect(desired(origin, { mayReachReserved: true })).toMatchObject({ address: RESERVED, issue: undefined });
    expect(desired(origin, { originPort: 81 })).toMatchObject({ address: RESERVED, issue: undefined });
  }
});

test('one to the own API is marked, and keeps its other flags', async () => {
  const desired = await given();
  expect(desired('127.0.0.1', { originPort: 8_080 }).flags).toMatchObject({ own_api: true, hsts_enabled: true });
  expect(desired('127.0.0.1').flags).not.toHaveProperty('own_api');
});
