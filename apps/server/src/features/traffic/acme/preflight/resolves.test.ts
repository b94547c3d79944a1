import { expect, test } from 'vitest';
import { checkResolves } from './resolves.ts';

const look = (addresses: string[]) => async () => addresses;

test('a public name is fine, and its addresses are told', async () => {
  const { addresses, check } = await checkResolves('a.example.com', true, look(['9.9.9.9', '2620:fe::fe']));
  expect(addresses).toEqual(['9.9.9.9', '2620:fe::fe']);
  expect(check).toMatchObject({ ok: true, message: 'a.example.com resolves to 9.9.9.9, 2620:fe::fe.', fix: null });
});

test('a name without an address keeps an order from being sent', async () => {
  const { check } = await checkResolves('a.example.com', true, look([]));
  expect(check).toMatchObject({
    ...{ ok: false, blocks: true, message: 'a.example.com has no address in DNS.' },
    fix: expect.stringContaining('A or AAAA record'),
  });
});

test('a private address is told where the authority is public: it may be public elsewhere', async () => {
  const found = await checkResolves('a.example.com', true, look(['9.9.9.9', '192.168.1.5']));
  expect(found.check).toMatchObject({ ok: false, blocks: false, message: expect.stringContaining('192.168.1.5 can') });
  expect((await checkResolves('a.example.com', false, look(['192.168.1.5']))).check.ok).toBe(true);
});

test('name servers that do not answer block nothing', async () => {
  const { addresses, check } = await checkResolves('a.example.com', true, async () => {
    throw new Error("a.example.com can't be looked up: the name servers do not answer");
  });
  expect(addresses).toEqual([]);
  expect(check).toMatchObject({ ok: false, blocks: false, message: expect.stringContaining('do not answer') });
});
