import { beforeEach, expect, test } from 'vitest';
import { createThrottle } from './throttle.ts';

let now = 0;
let noted = 0;
let throttle: ReturnType<typeof createThrottle>;

const LIMITS = { perAccountAndAddress: 5, perAddress: 20, perAccount: 50, windowMs: 60_000 };

beforeEach(() => {
  now = 1_000_000;
  noted = 0;
  throttle = createThrottle(() => new Date(now), LIMITS);
});

const begin = (account: string, ip: string, isLocal = false) =>
  throttle.begin({ account, ip, isLocal }, async () => {
    noted += 1;
  });
const fail = async (times: number, account: string | (() => string), ip: string | (() => string), isLocal = false) => {
  for (let n = 0; n < times; n += 1) {
    await begin(typeof account === 'string' ? account : account(), typeof ip === 'string' ? ip : ip(), isLocal);
  }
};
const counter = (prefix: string) => {
  let n = 0;
  return () => `${prefix}${n++}`;
};

test('refuses the sixth try at an account from one address, until the window is over', async () => {
  await fail(5, 'a', '192.0.2.1');
  await expect(begin('a', '192.0.2.1')).rejects.toMatchObject({ status: 429, headers: { 'retry-after': '60' } });
  now += 20_500;
  await expect(begin('a', '192.0.2.1')).rejects.toMatchObject({ headers: { 'retry-after': '40' } });
  await expect(begin('b', '192.0.2.1')).resolves.toBeDefined();
  await expect(begin('a', '192.0.2.2')).resolves.toBeDefined();
  now += 39_500;
  await expect(begin('a', '192.0.2.1')).resolves.toBeDefined();
});

test('refuses an address after twenty failures, whatever the accounts', async () => {
  await fail(20, counter('account-'), '192.0.2.1');
  await expect(begin('fresh', '192.0.2.1')).rejects.toMatchObject({ status: 429 });
  await expect(begin('fresh', '192.0.2.2')).resolves.toBeDefined();
});

test('takes a /64 of IPv6 for one address, and IPv4 in IPv6 for itself', async () => {
  await fail(20, counter('account-'), counter('2001:db8:1:2::'));
  await expect(begin('fresh', '2001:db8:1:2:ffff::1')).rejects.toMatchObject({ status: 429 });
  await expect(begin('fresh', '2001:db8:1:3::1')).resolves.toBeDefined();
  await fail(5, 'a', '192.0.2.1');
  await expect(begin('a', '::ffff:192.0.2.1')).rejects.toMatchObject({ status: 429 });
});

test('stops guessing one account from many addresses, but never on the local host', async () => {
  await fail(50, 'admin', counter('192.0.2.'));
  await expect(begin('admin', '198.51.100.1')).rejects.toMatchObject({ status: 429 });
  await expect(begin('admin', '127.0.0.1', true)).resolves.toBeDefined();
});

test('counts the local host apart from what came to it through the proxy without an address', async () => {
  await fail(5, 'admin', '127.0.0.1');
  await expect(begin('admin', '127.0.0.1')).rejects.toMatchObject({ status: 429 });
  await expect(begin('admin', '127.0.0.1', true)).resolves.toBeDefined();
  await fail(4, 'admin', '127.0.0.1', true);
  await expect(begin('admin', '127.0.0.1', true)).rejects.toMatchObject({ status: 429 });
});

test('counts attempts that are still under way', async () => {
  const attempts = await Promise.allSettled(Array.from({ length: 50 }, () => begin('a', '192.0.2.1')));
  expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
});

test('forgets the failures of an account after a success, but an own account buys no guesses at others', async () => {
  for (let n = 0; n < 18; n += 1) {
    if (n % 4 === 3) (await begin('own', '192.0.2.1')).succeeded();
    await begin(`victim-${n}`, '192.0.2.1');
  }
  await fail(2, counter('more-'), '192.0.2.1');
  await expect(begin('own', '192.0.2.1')).rejects.toMatchObject({ status: 429 });
});

test('takes back what was not tried', async () => {
  for (let n = 0; n < 30; n += 1) (await begin('a', '192.0.2.1')).withdraw();
  await expect(begin('a', '192.0.2.1')).resolves.toBeDefined();
});

test('leaves one note a counter and window, not one an attempt', async () => {
  await fail(5, 'a', '192.0.2.1');
  for (let n = 0; n < 100; n += 1) await begin('a', '192.0.2.1').catch(() => {});
  expect(noted).toBe(1);
});

test('keeps refusing when there are more callers than counters, however little they cost', async () => {
  throttle = createThrottle(() => new Date(now), LIMITS, 100);
  await fail(20, counter('b'), '192.0.2.1');
  const refused = async (account: string, ip: string) =>
    expect(begin(account, ip), `${account} ${ip}`).rejects.toMatchObject({ status: 429 });
  // Refused attempts make no counters, however many accounts they name.
  for (let n = 0; n < 500; n += 1) await refused(`c${n}`, '192.0.2.1');
  await fail(50, 'victim', counter('198.51.100.')).catch(() => {});
  await refused('victim', '203.0.113.1');
  // Attempts that are let through do; those that hold nobody back make room first.
  for (let n = 0; n < 1_000; n += 1) await begin(`d${n}`, `10.0.${n >> 8}.${n & 255}`);
  await refused('victim', '203.0.113.1');
  await refused('e', '192.0.2.1');
});

test('leaves nothing behind of attempts that were not made', async () => {
  throttle = createThrottle(() => new Date(now), LIMITS, 4);
  await fail(5, 'a', '192.0.2.1', true);
  for (let n = 0; n < 50; n += 1) (await begin(`b${n}`, `10.0.0.${n}`)).withdraw();
  await expect(begin('a', '192.0.2.1', true)).rejects.toMatchObject({ status: 429 });
});
