import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Named } from '../../../../../../test/support/start-named.ts';
import { createNameServers } from '../../../net/name-servers.ts';
import { byUpdate, givenDnsWriter, startZones } from '../../../testing/given-dns-writer.ts';
import { SecretLost } from '../lost-secret.ts';
import type { DnsProviderAccess } from './access.ts';
import { writeByUpdate } from './rfc2136.ts';
import { tryRecord } from './try-record.ts';

let named: Named;
beforeAll(async () => {
  named = await startZones();
});
afterAll(() => named.stop());

/** A hook that really sets records, and says no to what it is told to. */
const startHook = async (refuses?: string) => {
  const asked: { action: string; name: string; value: string }[] = [];
  const signal = new AbortController().signal;
  const dns = createNameServers([named.resolver]);
  const server: Server = createServer(async (incoming, response) => {
    const call = JSON.parse((await incoming.toArray()).join(''));
    asked.push(call);
    const isRefused = call.action === refuses;
    if (call.action === 'present') await writeByUpdate(byUpdate(named), [call], { dns, signal });
    response.writeHead(isRefused ? 500 : 204).end(isRefused ? 'not today' : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const access: DnsProviderAccess = { type: 'webhook', fields: { url }, secrets: {} };
  return { asked, access };
};

test('a record is set, seen and taken away, and is of nobody’s account', async () => {
  const { writer } = givenDnsWriter(named);
  const { asked, access } = await startHook();
  expect(await tryRecord(writer, () => access, 'one.zone.test')).toEqual({
    ok: true,
    message: 'The record _acme-challenge.one.zone.test was set, seen at the servers of its zone, and taken away',
  });
  expect(asked.map(({ action, name }) => [action, name])).toEqual([
    ['present', '_acme-challenge.one.zone.test'],
    ['cleanup', '_acme-challenge.one.zone.test'],
  ]);
  await tryRecord(writer, () => access, 'one.zone.test');
  expect(new Set(asked.map(({ value }) => value)).size).toBe(2);
  expect(asked[0]?.value).toMatch(/^[\w-]{43}$/);
});

test('what could not be done is told, and a record that stays', async () => {
  const { writer } = givenDnsWriter(named);
  const refusing = await startHook('present');
  expect(await tryRecord(writer, () => refusing.access, 'two.zone.test')).toEqual({
    ok: false,
    message: 'The hook answered present of _acme-challenge.two.zone.test with status 500: not today',
  });
  const keeping = await startHook('cleanup');
  expect(await tryRecord(writer, () => keeping.access, 'three.zone.test')).toEqual({
    ok: false,
    message:
      'The record _acme-challenge.three.zone.test was set, but stays there: ' +
      'The hook answered cleanup of _acme-challenge.three.zone.test with status 500: not today',
  });
});

test('secrets that are lost are told; what is a fault of ours is one', async () => {
  const { writer } = givenDnsWriter(named);
  const failing = (error: Error) =>
    tryRecord(
      writer,
      () => {
        throw error;
      },
      'a.zone.test',
    );
  const lost = new SecretLost('The secrets', 'give them anew', new Error('another key'));
  expect(await failing(lost)).toEqual({ ok: false, message: lost.message });
  await expect(failing(new TypeError('ours'))).rejects.toThrow('ours');
  const broken = { ...byUpdate(named), fields: undefined as never };
  await expect(tryRecord(writer, () => broken, 'a.zone.test')).rejects.toThrow(TypeError);
});
