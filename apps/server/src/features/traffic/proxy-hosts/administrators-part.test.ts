import { PROXY_HOST_DEFAULTS, PROXY_HOST_PROTECTION, type ProxyHostPatch } from '@sallyport/contract';
import type { Actor } from '@sallyport/store/actor';
import { expect, test } from 'vitest';
import {
  checkDeletion,
  checkNew,
  checkPatch,
  isStandardUser,
  refuseUnderGuardedWildcard,
} from './administrators-part.ts';
import type { ProxyHostStore, StoredProxyHost } from './store.ts';

const host = (more: Partial<StoredProxyHost> = {}) =>
  ({
    ...PROXY_HOST_DEFAULTS,
    ...{ id: 1, uuid: 'u', domain: 'a.test,b.test', forward_host: '192.0.2.1', forward_port: 80 },
    ...more,
  }) as StoredProxyHost;
/** Another value than a new host gets. */
const other = (field: string): unknown => {
  const value = (PROXY_HOST_DEFAULTS as Record<string, unknown>)[field];
  return typeof value === 'boolean' ? !value : 7;
};
const FORBIDDEN = { status: 403, message: 'Admin access required' };
const refusal = (work: () => void) => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
};

test('nobody but a user who is no administrator is a standard user', () => {
  const of = (identity: object) => isStandardUser({ identity } as Actor);
  expect(of({ kind: 'user', role: 'user' })).toBe(true);
  expect(of({ kind: 'user', role: 'admin' })).toBe(false);
  expect(of({ kind: 'local' })).toBe(false);
});

test.each(PROXY_HOST_PROTECTION)('%s is an administrator’s to choose', (field) => {
  const [same, chosen] = [PROXY_HOST_DEFAULTS, { [field]: other(field) }] as ProxyHostPatch[];
  expect(refusal(() => checkNew(same ?? {}))).toBeUndefined();
  expect(refusal(() => checkNew(chosen ?? {}))).toMatchObject({
    ...FORBIDDEN,
    details: expect.stringContaining(field),
  });
  expect(refusal(() => checkPatch(host(), chosen ?? {}, undefined))).toMatchObject(FORBIDDEN);
  // What it is already may be said again.
  expect(refusal(() => checkPatch(host(chosen as never), chosen ?? {}, undefined))).toBeUndefined();
  const isGuarded = field !== 'forward_reserved';
  const taken = refusal(() => checkPatch(host(chosen as never), {}, ['a.test']));
  const deleted = refusal(() => checkDeletion(host(chosen as never)));
  for (const one of [taken, deleted]) {
    if (isGuarded) expect(one).toMatchObject({ ...FORBIDDEN, details: expect.stringContaining(field) });
    else expect(one).toBeUndefined();
  }
});

test('a host that an administrator protects gets names, and keeps its own; one that nobody does gives them away', () => {
  const guarded = host({ block_exploits: other('block_exploits') as boolean });
  expect(refusal(() => checkPatch(guarded, {}, ['b.test', 'a.test', 'c.test']))).toBeUndefined();
  expect(refusal(() => checkPatch(guarded, {}, undefined))).toBeUndefined();
  expect(refusal(() => checkPatch(host(), {}, ['c.test']))).toBeUndefined();
  expect(refusal(() => checkDeletion(host()))).toBeUndefined();
});

test('one that may have a reserved origin stays where it is', () => {
  const reserved = host({ forward_reserved: true });
  for (const patch of [{ forward_host: '127.0.0.1' }, { forward_port: 8080 }]) {
    expect(refusal(() => checkPatch(reserved, patch, undefined))).toMatchObject(FORBIDDEN);
    expect(refusal(() => checkPatch(host(), patch, undefined))).toBeUndefined();
  }
  const same = { forward_host: '192.0.2.1', forward_port: 80 };
  expect(refusal(() => checkPatch(reserved, same, undefined))).toBeUndefined();
});

test('a name is not taken out of a wildcard host that an administrator protects', async () => {
  const owners = (guarded: StoredProxyHost | undefined) =>
    ({
      ownersOf: async (names: readonly string[]) => {
        asked.push(...names);
        return names.filter((name) => name === '*.a.test').map((name) => ({ name, uuid: 'u' }));
      },
      find: async () => guarded,
    }) as unknown as ProxyHostStore;
  let asked: string[] = [];
  const guarded = host({ domain: '*.a.test', block_exploits: other('block_exploits') as boolean });
  const take = (names: readonly string[], of: StoredProxyHost | undefined = guarded) => {
    asked = [];
    return refuseUnderGuardedWildcard(owners(of), names).then(
      () => undefined,
      (error: unknown) => error,
    );
  };
  expect(await take(['b.test', 'x.a.test'])).toMatchObject({
    ...FORBIDDEN,
    details: expect.stringContaining('*.a.test'),
  });
  expect(asked).toEqual(['*.test', '*.a.test']);
  expect(await take(['x.a.test'], host({ domain: '*.a.test' }))).toBeUndefined();
  expect(await take(['x.y.a.test', 'a.test'])).toBeUndefined();
  // Another wildcard takes in what this one does not.
  expect(await take(['*.a.test'])).toBeUndefined();
  expect(asked).toEqual([]);
});
