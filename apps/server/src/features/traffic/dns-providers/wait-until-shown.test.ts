import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../../../../test/support/free-ports.ts';
import { type Named, startNamed } from '../../../../../../test/support/start-named.ts';
import { createNameServers } from '../../../net/name-servers.ts';
import { byUpdate, failureOf } from '../../../testing/given-dns-writer.ts';
import { writeByUpdate } from './rfc2136.ts';
import { waitUntilShown } from './wait-until-shown.ts';

let named: Named;
/** Nobody listens there. */
let away: string;
beforeAll(async () => {
  const shown = ['shown IN TXT "value"', 'shown IN TXT "other"'];
  away = `127.0.0.2:${await freePort()}`;
  const half = [...shown, '@ IN NS ns2', 'ns2 IN A 127.0.0.2'];
  named = await startNamed({ zones: { 'zone.test': shown, 'half.test': half } });
});
afterAll(() => named.stop());

const never = new AbortController().signal;
const record = (name: string, value = 'value') => ({ name, value });
const wait = (
  names: string[],
  { limitMs = 0, signal = never, resolvers = [named.resolver, away], value = 'value' } = {},
) =>
  waitUntilShown(
    createNameServers(resolvers),
    names.map((name) => record(name, value)),
    { limitMs, signal },
  );

test('a record that all servers show that answer is there, beside others', async () => {
  await wait(['shown.zone.test', 'shown.half.test']);
  await wait(['shown.zone.test'], { value: 'other' });
});

test('one that a server lacks is told with the server, when it is too late', async () => {
  const { message } = await failureOf(wait(['shown.zone.test', 'lacking.zone.test'], { limitMs: 1_400 }));
  expect(message).toBe(
    `The provider took the record, but after 1 seconds it is still not seen: ns1.zone.test (${named.resolver}) does not show TXT lacking.zone.test`,
  );
  const otherValue = await failureOf(wait(['shown.half.test'], { value: 'valu' }));
  expect(otherValue.message).toContain(`ns1.half.test (${named.resolver}) does not show TXT shown.half.test`);
  expect(otherValue.name).toBe('DnsWriteFailed');
});

test('one that comes while there is time is waited for', async () => {
  const dns = createNameServers([named.resolver]);
  const waiting = wait(['coming.zone.test'], { limitMs: 3_600_000 });
  const access = byUpdate(named);
  const { close } = await writeByUpdate(access, [record('coming.zone.test')], { dns, signal: never });
  await waiting;
  await close();
});

test('where no server of the zone can be reached, the resolver has to show it', async () => {
  // By its address it is the first of them that the zone's server would be asked at.
  const resolvers = [`127.0.0.1:${await freePort()}`, named.resolver];
  await wait(['shown.zone.test'], { resolvers });
  const { message } = await failureOf(wait(['lacking.zone.test'], { resolvers }));
  expect(message).toContain(
    "it is still not seen: none of the zone's servers answers, and the resolver does not show TXT lacking.zone.test",
  );
});

test('a zone that nobody finds is told at once', async () => {
  const error = await failureOf(wait(['shown.nowhere'], { limitMs: 3_600_000 }));
  expect(error).toMatchObject({ name: 'DnsWriteFailed', message: expect.stringContaining('shown.nowhere') });
});

test('whoever gives up hears why', async () => {
  const ending = new AbortController();
  const waiting = failureOf(wait(['lacking.zone.test'], { limitMs: 3_600_000, signal: ending.signal }));
  ending.abort(new Error('the server stops'));
  expect((await waiting).message).toBe('the server stops');
});
