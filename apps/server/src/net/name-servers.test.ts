import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../../test/support/free-ports.ts';
import { type Named, startNamed } from '../../../../test/support/start-named.ts';
import { createNameServers, type NameServers } from './name-servers.ts';

let named: Named;
let servers: NameServers;
beforeAll(async () => {
  const chain = Array.from({ length: 13 }, (_, step) => `chain${step} IN CNAME chain${step + 1}`);
  named = await startNamed({
    zones: {
      'zone.test': [
        '@ IN CAA 0 issue "ca.example; accounturi=x"',
        '@ IN CAA 128 tbs "unknown"',
        'www IN A 192.0.2.1',
        'www IN AAAA 2001:db8::1',
        'four IN A 192.0.2.4',
        'six IN AAAA 2001:db8::6',
        'text IN TXT "one " "value"',
        'text IN TXT "another"',
        'own IN CAA 0 issuewild ";"',
        'alias IN CNAME www',
        'ALIAS2 IN CNAME WWW',
        'four-alias IN CNAME four',
        'apex-alias IN CNAME sub.zone.test.',
        'blank IN CNAME a\\032b',
        'circle IN CNAME ring',
        'ring IN CNAME circle',
        ...chain,
      ],
      'sub.zone.test': [],
    },
  });
  servers = createNameServers([named.resolver]);
});
afterAll(() => named.stop());

test('finds the addresses of both families, and none where there are none', async () => {
  expect((await servers.addresses('www.zone.test')).sort()).toEqual(['192.0.2.1', '2001:db8::1']);
  expect(await servers.addresses('four.zone.test')).toEqual(['192.0.2.4']);
  expect(await servers.addresses('six.zone.test')).toEqual(['2001:db8::6']);
  expect(await servers.addresses('alias.zone.test')).toContain('192.0.2.1');
  expect(await servers.addresses('four-alias.zone.test')).toEqual(['192.0.2.4']);
  expect(await servers.addresses('text.zone.test')).toEqual([]);
  expect(await servers.addresses('no.zone.test')).toEqual([]);
});

test('tells what the nearest name above says of authorities', async () => {
  expect(await servers.authoritiesOf('own.zone.test')).toEqual({
    at: 'own.zone.test',
    records: [{ tag: 'issuewild', value: ';', isCritical: false }],
  });
  expect((await servers.authoritiesOf('alias.zone.test'))?.at).toBe('zone.test');
  const above = await servers.authoritiesOf('www.zone.test');
  expect(above?.at).toBe('zone.test');
  expect(above?.records).toHaveLength(2);
  expect(above?.records).toEqual(
    expect.arrayContaining([
      { tag: 'issue', value: 'ca.example; accounturi=x', isCritical: false },
      { tag: 'tbs', value: 'unknown', isCritical: true },
    ]),
  );
});

test('follows aliases, in a circle never, and to no name that can’t be written', async () => {
  expect(await servers.follow('alias.zone.test')).toBe('www.zone.test');
  expect(await servers.follow('Alias2.Zone.test')).toBe('www.zone.test');
  expect(await servers.follow('www.zone.test')).toBe('www.zone.test');
  expect(await servers.follow('no.zone.test')).toBe('no.zone.test');
  await expect(servers.follow('circle.zone.test')).rejects.toThrow('lead in a circle');
  await expect(servers.follow('blank.zone.test')).rejects.toThrow('where no record can be written');
  // Ten aliases and no more.
  expect(await servers.follow('chain3.zone.test')).toBe('chain13.zone.test');
  await expect(servers.follow('chain2.zone.test')).rejects.toThrow('leads over more than 10 CNAME records');
});

test('finds the zone and its servers, at the port that was given', async () => {
  expect(await servers.zoneOf('www.zone.test')).toBe('zone.test');
  expect(await servers.zoneOf('a.b.sub.zone.test')).toBe('sub.zone.test');
  // Where a site is an alias, as www often is, its challenge lies below it all the same.
  expect(await servers.zoneOf('_acme-challenge.alias.zone.test')).toBe('zone.test');
  expect(await servers.zoneOf('_acme-challenge.apex-alias.zone.test')).toBe('zone.test');
  expect(await servers.serversOf('zone.test')).toEqual([{ name: 'ns1.zone.test', address: named.resolver }]);
});

test('reads the texts of a name, from the server that is named', async () => {
  expect((await servers.textOf('text.zone.test')).sort()).toEqual(['another', 'one value']);
  expect(await servers.textOf('www.zone.test')).toEqual([]);
  expect(await servers.textOf('alias.zone.test')).toEqual([]);
  const elsewhere = createNameServers([`127.0.0.1:${await freePort()}`]);
  const [server] = await servers.serversOf('zone.test');
  expect(await elsewhere.textOf('text.zone.test', server)).toHaveLength(2);
});

test('what nobody could answer is no answer, and says why', async () => {
  const nobody = createNameServers([`127.0.0.1:${await freePort()}`]);
  const why = "www.zone.test can't be looked up: the name servers refuse the connection";
  await expect(nobody.addresses('www.zone.test')).rejects.toThrow(why);
  await expect(nobody.follow('www.zone.test')).rejects.toThrow(why);
  await expect(nobody.textOf('www.zone.test')).rejects.toThrow(why);
  await expect(nobody.zoneOf('www.zone.test')).rejects.toThrow(why);
  await expect(nobody.authoritiesOf('www.zone.test')).rejects.toThrow(why);
  // It knows its own zones only.
  await expect(servers.addresses('www.example.com')).rejects.toThrow('the name servers refuse to answer');
});
