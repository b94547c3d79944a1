import { expect, test } from 'vitest';
import type { SiteAnswer } from '../../../../net/ask-site.ts';
import { createPreflight, type PreflightDeps, type WantedOrder } from './service.ts';

const ORDER: WantedOrder = {
  ...{ names: ['a.test'], challenge: 'http-01', directoryUrl: 'https://ca.example/directory', accountUrl: null },
  directory: async () => ({ caaIdentities: ['CA.example'] }),
};

/** Looks whose names are at `addresses`, where this proxy answers, or what `get` says; what is asked is noted. */
const given = (addresses: Record<string, string[]>, more: Partial<PreflightDeps> = {}) => {
  const noted = { asked: [] as string[], published: [] as unknown[], withdrawn: [] as unknown[], caa: [] as string[] };
  let own = { token: '', keyAuthorization: '' };
  const preflight = createPreflight({
    nameServers: async () => ({
      addresses: async (name) => addresses[name] ?? [],
      async authoritiesOf(name) {
        noted.caa.push(name);
        const isForbidden = name === 'forbidden.test';
        return { at: name, records: [{ tag: 'issue', value: isForbidden ? 'x' : 'ca.example', isCritical: false }] };
      },
    }),
    challenges: {
      async publish([answer = own], options) {
        own = answer;
        noted.published.push({ ...answer, ...options });
      },
      withdraw: async (tokens) => void noted.withdrawn.push(...tokens),
    },
    async get({ address, port }, name, path) {
      noted.asked.push(`${name} ${address} ${port}`);
      const isOwn = path === `/.well-known/acme-challenge/${own.token}`;
      return {
        status: isOwn ? 200 : 404,
        headers: {},
        body: Buffer.from(own.keyAuthorization),
      } as unknown as SiteAnswer;
    },
    port: async () => 8_080,
    lookup: async () => ['9.9.9.9'],
    ...more,
  });
  const told = async (order: Partial<WantedOrder> = {}) => {
    const { ok, checks } = await preflight.check({ ...ORDER, ...order });
    return { ok, checks: checks.map((one) => `${one.name} ${one.subject} ${one.ok ? 'ok' : one.blocks}`) };
  };
  return { noted, told, preflight };
};

test('each address of a name is asked for an answer that only this proxy knows, and that is taken back', async () => {
  const { told, noted } = given({ 'a.test': ['9.9.9.9', '2620:fe::fe'] }, { wholeMs: 30_000 });
  expect(await told({ names: ['a.test', '192.0.2.1'] })).toEqual({
    ok: true,
    checks: [
      'account  ok',
      'caa a.test ok',
      'resolves a.test ok',
      'port-80 a.test ok',
      'port-80 a.test ok',
      'port-80 192.0.2.1 ok',
    ],
  });
  expect(noted.asked).toEqual(['a.test 9.9.9.9 8080', 'a.test 2620:fe::fe 8080', '192.0.2.1 192.0.2.1 8080']);
  const [{ token, keyAuthorization, ttlMs }] = noted.published as [Record<string, string | number>];
  expect(token).toMatch(/^sallyport-preflight-[\w-]{22}$/);
  expect(keyAuthorization).toMatch(new RegExp(`^${token}\\.[\\w-]{43}$`));
  expect([ttlMs, noted.withdrawn]).toEqual([60_000, [token]]);
  await told();
  expect(noted.published[1]).not.toMatchObject({ token });
});

test('of a name with many addresses eight are asked; for one with none, and for dns-01, nobody is', async () => {
  const many = Array.from({ length: 12 }, (_, index) => `9.9.9.${index}`);
  const { told, noted } = given({ 'a.test': many });
  await told();
  expect(noted.asked).toHaveLength(8);
  noted.published.length = 0;
  expect(await told({ names: ['none.test'] })).toEqual({
    ...{ ok: false, checks: ['account  ok', 'caa none.test ok', 'resolves none.test true'] },
  });
  expect(await told({ names: ['*.b.test', 'forbidden.test', '::1'], challenge: 'dns-01' })).toEqual({
    ...{ ok: false, checks: ['account  ok', 'caa *.b.test ok', 'caa forbidden.test true'] },
  });
  expect(noted.published).toEqual([]);
  expect(noted.caa).toContain('b.test');
});

test('an answer that can not be published is told once, and one that can not be taken back is in nobody’s way', async () => {
  const addresses = { 'a.test': ['9.9.9.9'] };
  const publish = () => Promise.reject(new Error('HAProxy is not running'));
  const withdraw = () => Promise.reject(new Error('it is gone'));
  const { preflight } = given(addresses, { challenges: { publish, withdraw } });
  const { checks } = await preflight.check(ORDER);
  expect(checks.at(-1)).toMatchObject({
    ...{ name: 'port-80', subject: '', message: 'Nobody can be answered now: HAProxy is not running.', blocks: true },
  });
  const left = given(addresses, { challenges: { publish: async () => {}, withdraw } });
  expect((await left.told()).checks.at(-1)).toMatch(/^port-80 a\.test/);
});

test('private addresses are doubted only where the authority is on the internet', async () => {
  const resolved = async (directoryUrl: string, lookup: PreflightDeps['lookup']) => {
    const { told } = given({ 'a.test': ['192.168.1.5'] }, { lookup });
    return (await told({ directoryUrl })).checks[2];
  };
  const [doubted, fine] = ['resolves a.test false', 'resolves a.test ok'];
  expect(await resolved('https://ca.example/', async () => ['9.9.9.9'])).toBe(doubted);
  expect(await resolved('https://ca.example/', async () => ['9.9.9.9', '10.0.0.1'])).toBe(fine);
  expect(await resolved('https://ca.example/', async () => [])).toBe(fine);
  expect(await resolved('https://ca.example/', () => Promise.reject(new Error('no DNS')))).toBe(fine);
  const never = () => Promise.reject(new Error('was asked'));
  expect(await resolved('https://9.9.9.9/', never)).toBe(doubted);
  expect(await resolved('https://[2620:fe::fe]/', never)).toBe(doubted);
  expect(await resolved('https://127.0.0.1:14000/', never)).toBe(fine);
});

test('an authority that can not be asked is told, without its CAA records', async () => {
  const { preflight, noted } = given({ 'a.test': ['9.9.9.9'] });
  const directory = () => Promise.reject(new Error('connection refused'));
  const { ok, checks } = await preflight.check({ ...ORDER, directory });
  expect(ok).toBe(false);
  expect(checks.map(({ name }) => name)).toEqual(['account', 'resolves', 'port-80']);
  expect(checks[0]).toMatchObject({
    ...{ blocks: true, message: 'The authority at https://ca.example/directory can not be asked: connection refused' },
  });
  expect(noted.caa).toEqual([]);
});

test('what does not end in time is told, in the order of the names, and blocks nothing', async () => {
  const never = new Promise<never>(() => {});
  const names = Array.from({ length: 10 }, (_, index) => `n${index}.test`);
  const hangs = given(
    {},
    {
      wholeMs: 1,
      nameServers: async () => ({ addresses: () => never, authoritiesOf: () => never }),
    },
  );
  const told = await hangs.told({ names });
  expect(told.checks).toEqual([
    'account  ok',
    ...names.map((name) => `caa ${name} false`),
    ...names.map((name) => `resolves ${name} false`),
  ]);
  const silent = given({ 'a.test': ['9.9.9.9'] }, { wholeMs: 200, get: () => never });
  expect((await silent.told()).checks.at(-1)).toBe('port-80 a.test false');
});
