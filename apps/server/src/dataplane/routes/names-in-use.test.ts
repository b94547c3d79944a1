import { expect, test } from 'vitest';
import { givenHost } from '../../../../../test/support/haproxy/given.ts';
import { createNamesInUse } from './names-in-use.ts';
import type { HostRoute } from './source.ts';

const route = (id: number, originHost: string): HostRoute => ({
  id,
  originHost,
  originPort: 80,
  mayReachReserved: false,
  at: () => givenHost({ id, names: [`${id}.test`], origin: { port: 80 } }),
});

test('hosts are found by the names of their origins; addresses are no names', () => {
  const names = createNamesInUse();
  for (const [id, name] of ['app', '192.0.2.1', 'app', '2001:db8::1', 'db'].entries()) names.remember(route(id, name));
  expect(names.names()).toEqual(['app', 'db']);
  expect(names.hostsOf(['app', 'db', 'other'])).toEqual([0, 2, 4]);
  // One that has come to have another name is looked up once for both.
  names.remember(route(0, 'db'));
  expect(names.hostsOf(['app', 'db'])).toEqual([0, 2, 4]);
});

test('while all hosts are gone through every known name stays in use, and afterwards those that came up', () => {
  const names = createNamesInUse();
  names.remember(route(1, 'gone'));
  names.remember(route(2, 'kept'));
  names.begin();
  names.remember(route(2, 'kept'));
  names.remember(route(3, 'new'));
  expect(names.names()).toEqual(['gone', 'kept', 'new']);
  names.finish();
  names.end();
  expect(names.names()).toEqual(['kept', 'new']);
  names.remember(route(4, 'later'));
  expect(names.hostsOf(['later', 'gone'])).toEqual([4]);
});

test('a going through that did not come to its end forgets nothing', () => {
  const names = createNamesInUse();
  names.remember(route(1, 'first'));
  names.begin();
  names.remember(route(2, 'second'));
  names.end();
  expect(names.names()).toEqual(['first', 'second']);
  // What is over collects no more.
  names.finish();
  expect(names.names()).toEqual(['first', 'second']);
});
