import type { NewProxyHost, ProxyHostPatch } from '@sallyport/contract';
import type { Actor } from '@sallyport/store/actor';
import { expect, test } from 'vitest';
import { createComplete } from './complete.ts';
import { parseDomains } from './domains.ts';
import type { References } from './many.ts';
import { normalise } from './normalise.ts';
import type { StoredProxyHost } from './store.ts';
import { createCheckWayIn, createKeepWayIn } from './way-in.ts';

const { wouldBe, completeNew, completePatch } = createComplete({
  reservedOrigin: (address, port) => (address === '127.0.0.1' || port === 1 ? 'this machine itself' : undefined),
});
const references: References = {
  idOf: async (table, named) => (named === 404 ? undefined : `${table} ${named}`.length),
};
const administrator = { identity: { kind: 'user', role: 'admin' } } as Actor;
const user = { identity: { kind: 'user', role: 'user' } } as Actor;
const given = (more: Partial<NewProxyHost> = {}): NewProxyHost => ({
  ...{ domain: 'a.test', forward_host: '192.0.2.1', forward_port: 80 },
  ...more,
});

test('names are normalised, each once, and none gets lost in silence', () => {
  expect(parseDomains(' A.test , *.B.test,bücher.test,a.test. ')).toEqual(['a.test', '*.b.test', 'xn--bcher-kva.test']);
  for (const domain of ['', ' , ', ',']) expect(() => parseDomains(domain)).toThrow('domain is required');
  for (const domain of ['a.test,', ',a.test', 'a.test,,b.test']) {
    expect(() => parseDomains(domain)).toThrow('domain has an empty name');
  }
  const many = (count: number) => Array.from({ length: count }, (_, at) => `n${at}.test`).join();
  expect(parseDomains(many(100))).toHaveLength(100);
  expect(() => parseDomains(many(101))).toThrow('domain must have at most 100 names');
  expect(() => parseDomains('a.test,b_c.test')).toThrow(/^domain "b_c\.test" /);
});

test('fields are stored in one spelling, and only those that are given', () => {
  const { fields, names } = normalise({
    domain: 'B.test, a.test',
    forward_host: '[::1]',
    name: ' Shop ',
  } as ProxyHostPatch);
  expect(fields).toEqual({ domain: 'b.test,a.test', forward_host: '::1', name: 'Shop' });
  expect(names).toEqual(['b.test', 'a.test']);
  expect(normalise({ enabled: false } as ProxyHostPatch)).toEqual({ fields: { enabled: false }, names: undefined });
  expect(() => normalise({ forward_host: 'http://a' } as ProxyHostPatch)).toThrow(/^forward_host "http:\/\/a" must be/);
});

test('an origin that is reserved, or that can not be verified, is no origin of a new host', async () => {
  const named = { forward_scheme: 'https', forward_verify_tls: true } as const;
  for (const [more, message] of [
    [{ forward_host: '127.0.0.1' }, 'forward_host is this machine itself: an administrator can allow it'],
    [{ forward_port: 1 }, 'forward_host is this machine itself'],
    [{ ...named }, 'forward_verify_tls needs a host name in forward_host'],
  ] as [Partial<NewProxyHost>, string][]) {
    expect(() => wouldBe(given(more))).toThrow(message);
    await expect(completeNew(references, given(more), administrator)).rejects.toThrow(message);
  }
  for (const more of [
    { forward_host: '127.0.0.1', forward_reserved: true },
    // A name is judged when it is looked up.
    { ...named, forward_host: 'origin.test', forward_port: 1 },
    { ...named, forward_scheme: 'http' },
    { ...named, forward_verify_tls: false },
  ] as Partial<NewProxyHost>[]) {
    expect(wouldBe(given(more)).names).toEqual(['a.test']);
    expect(await completeNew(references, given(more), administrator)).toMatchObject(more);
  }
  await expect(completeNew(references, given({ forward_reserved: true }), user)).rejects.toMatchObject({ status: 403 });
});

test('what is referred to is found by its number or uuid in any case, may be nothing, and has to be there', async () => {
  const uuid = 'ABCDEF00-0000-4000-8000-000000000000';
  const asked: unknown[] = [];
  const noting: References = {
    async idOf(table, named) {
      asked.push([table, named]);
      return references.idOf(table, named);
    },
  };
  const host = await completeNew(
    noting,
    given({ certificate_id: uuid, access_list_id: null, remote_server_id: 7 }),
    administrator,
  );
  expect(asked).toEqual([
    ['remote_servers', 7],
    ['certificates', uuid.toLowerCase()],
  ]);
  expect(host).toMatchObject({ certificate_id: `certificates ${uuid}`.length, access_list_id: null });
  for (const [field, what] of [
    ['certificate_id', 'certificate'],
    ['access_list_id', 'access list'],
    ['remote_server_id', 'remote server'],
  ] as const) {
    await expect(completeNew(references, given({ [field]: 404 }), administrator)).rejects.toThrow(
      `${field} names no ${what}`,
    );
  }
});

test('what was stored before there was a rule stays as long as its origin does', async () => {
  const before = { ...(await completeNew(references, given(), user)), forward_host: '127.0.0.1' } as StoredProxyHost;
  expect(await completePatch(references, before, { enabled: false })).toMatchObject({ enabled: false });
  for (const patch of [{ forward_port: 81 }, { forward_host: '127.0.0.1', forward_port: 82 }]) {
    await expect(completePatch(references, before, patch)).rejects.toThrow('forward_host is this machine itself');
  }
  const reserved = { ...before, forward_reserved: true };
  await expect(completePatch(references, reserved, { forward_reserved: false })).rejects.toThrow(
    'forward_host is this',
  );
});

test('who came through the proxy keeps the names by which they may have come, unless the change goes back by itself', async () => {
  const isOwnApi = (host: string, port: number) => host === '127.0.0.1' && port === 8080;
  const own = {
    ...{ domain: 'a.test,b.test', enabled: true, forward_reserved: true },
    ...{ forward_host: '127.0.0.1', forward_port: 8080 },
  } as StoredProxyHost;
  const check = createCheckWayIn({ isOwnApi });
  const proxied = { ...administrator, isProxied: true };
  const refused = { status: 409, message: expect.stringContaining('could lock you out: ') };
  const outcome = (after: StoredProxyHost | undefined, actor: Actor = proxied, before = own) => {
    try {
      return check(before, after, actor);
    } catch (error) {
      return error;
    }
  };
  for (const after of [
    undefined,
    { ...own, domain: 'a.test' },
    { ...own, enabled: false },
    { ...own, forward_port: 8081 },
    { ...own, forward_host: '192.0.2.1' },
    { ...own, forward_reserved: false },
  ]) {
    expect(outcome(after)).toMatchObject(refused);
    expect(outcome(after, administrator)).toBeUndefined();
    expect(outcome(after, { ...proxied, confirm: { withinMs: 60_000 } } as unknown as Actor)).toBeUndefined();
    // One that leads elsewhere, or nowhere, may go.
    for (const no of [{ enabled: false }, { forward_port: 1 }, { forward_reserved: false }]) {
      expect(outcome(after, proxied, { ...own, ...no } as StoredProxyHost)).toBeUndefined();
    }
  }
  expect(outcome({ ...own, domain: 'c.test,b.test,a.test' })).toBeUndefined();

  let stored = [own];
  const keep = createKeepWayIn({ store: () => ({ toReserved: async () => stored }), isOwnApi });
  const changeTo = (hosts: StoredProxyHost[], actor: Actor = proxied) => {
    stored = [own];
    const work = async () => {
      stored = hosts;
      return 'done';
    };
    return keep(undefined as never, actor, work).catch((error: unknown) => error);
  };
  expect(await changeTo([{ ...own, domain: 'a.test' }])).toMatchObject(refused);
  expect(await changeTo([{ ...own, forward_port: 8081 }])).toMatchObject(refused);
  expect(await changeTo([], administrator)).toBe('done');
  // The names may move to another host that leads here.
  expect(
    await changeTo([
      { ...own, domain: 'a.test' },
      { ...own, domain: 'b.test' },
    ]),
  ).toBe('done');
});
