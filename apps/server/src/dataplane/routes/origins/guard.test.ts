import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { createOriginGuard, createOwnOrigin } from './guard.ts';

const OWN = "one of Sallyport's own listeners";
const METADATA = 'a link-local or metadata address';

/** In every way in which a caller may write the machine itself, and what it is told to connect to when that is "any address". */
const HERE = ['127.0.0.1', '127.9.9.9', '0.0.0.0', '::1', '::', '0:0:0:0:0:0:0:1', '::0', '0:0:0:0:0:0:0:0'];
const MAPPED = ['::ffff:127.0.0.1', '::FFFF:7f00:1', '::ffff:0.0.0.0', '::ffff:0:0', '0:0:0:0:0:ffff:0:0'];

test.each([...HERE, ...MAPPED])('%s with the port of an own listener is that listener', (address) => {
  const reserved = createOriginGuard(() => [
    { host: '192.0.2.9', port: 443 },
    { host: '127.0.0.1', port: 81 },
  ]);
  expect([reserved(address, 81), reserved(address, 443), reserved(address, 8081)]).toEqual([OWN, undefined, undefined]);
  expect(createOwnOrigin(() => ({ host: '', port: 81 }))(address, 81)).toBe(true);
});

test('a listener on every address is reached at each of the machine, one on a single address only there', () => {
  const [own] = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  for (const host of ['', '::', '0:0::0', '::ffff:0.0.0.0']) {
    const everywhere = createOriginGuard(() => [{ host, port: 80 }]);
    expect([everywhere(own!.address, 80), everywhere('192.0.2.1', 80)]).toEqual([OWN, undefined]);
  }
  const onOne = createOriginGuard(() => [
    { host: '192.0.2.1', port: 80 },
    { host: '2001:DB8:0::1', port: 80 },
  ]);
  const asked = ['192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201', '2001:db8::1', '2001:db8:0:0::0001'];
  expect(asked.map((address) => onOne(address, 80))).toEqual(asked.map(() => OWN));
  expect(['127.0.0.1', '192.0.2.2', '2001:db8::2'].map((address) => onOne(address, 80))).toEqual(
    Array(3).fill(undefined),
  );
});

test.each(['169.254.169.254', '::ffff:169.254.169.254', 'fe80::1', 'fd00:ec2:0::254'])(
  'what answers at %s hands out credentials, at any port',
  (address) => expect(createOriginGuard(() => [])(address, 8080)).toBe(METADATA),
);

test('the management API is known by the name of the machine as well, and asked for its listener each time', () => {
  let port = 81;
  const isOwn = createOwnOrigin(() => ({ host: '127.0.0.1', port }));
  const asked = () => [isOwn('LocalHost', 81), isOwn('app', 81), isOwn('::ffff:7f00:1', 81), isOwn('localhost', 82)];
  expect(asked()).toEqual([true, false, true, false]);
  port = 82;
  expect(asked()).toEqual([false, false, false, true]);
});
