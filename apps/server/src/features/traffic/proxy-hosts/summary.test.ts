import { PROXY_HOST_DEFAULTS, type ProxyHost } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { summarise } from './summary.ts';

let serial = 0;
const host = (fields: Partial<ProxyHost> = {}): ProxyHost => {
  serial += 1;
  const now = '2026-11-20T12:00:00.000Z';
  return {
    ...PROXY_HOST_DEFAULTS,
    ...{ id: serial, uuid: `uuid-${serial}`, domain: `h${serial}.example.com`, name: '' },
    ...{ forward_host: '127.0.0.1', forward_port: 9, applied: true, issue: null, warnings: [] },
    ...{ created_at: now, updated_at: now },
    ...fields,
  } as ProxyHost;
};
async function* portions(...all: ProxyHost[][]) {
  yield* all;
}
const issue = { applied: false, issue: 'HAProxy is not running' };
const warnings = [{ field: 'waf_enabled', message: 'the firewall does not judge this host' }];

test('no host at all', async () => {
  expect(await summarise(portions())).toEqual({
    ...{ total: 0, enabled: 0, served: 0, with_certificate: 0, with_issue: 0, with_warnings: 0 },
    ...{ first_page: null, attention: [] },
  });
});

test('counts what is served and what is not, and names first what is not', async () => {
  const warned = host({ warnings, name: 'shop' });
  const failing = host({ ...issue, warnings, certificate_id: 3 });
  const off = host({ enabled: false, auto_certificate: true });
  const summary = await summarise(portions([warned, host()], [], [off, failing]));
  const shown = ({ uuid, domain, name, issue, warnings }: ProxyHost) => ({ uuid, domain, name, issue, warnings });
  expect(summary).toEqual({
    ...{ total: 4, enabled: 3, served: 2, with_certificate: 2, with_issue: 1, with_warnings: 1 },
    ...{ first_page: `http://${warned.domain}/`, attention: [shown(failing), shown(warned)] },
  });
});

test('names no more than twenty, those with an issue before all others', async () => {
  const warned = Array.from({ length: 25 }, () => host({ warnings }));
  const failing = Array.from({ length: 15 }, () => host(issue));
  const { attention, ...counts } = await summarise(portions(warned, failing));
  expect(counts).toMatchObject({ total: 40, with_issue: 15, with_warnings: 25 });
  expect(attention.map(({ uuid }) => uuid)).toEqual([...failing, ...warned.slice(0, 5)].map(({ uuid }) => uuid));
});

test.each([
  ['one that is not served has none', [host({ ...issue }), host({ enabled: false })], null],
  [
    'a wildcard has none',
    [host({ domain: '*.a.example.com' }), host({ domain: '*.b.example.com,b.example.com' })],
    'http://b.example.com/',
  ],
  [
    'with a certificate it is TLS',
    [host({ domain: 'c.example.com', auto_certificate: true })],
    'https://c.example.com/',
  ],
  ['with redirects to TLS, too', [host({ domain: 'd.example.com', ssl_forced: true })], 'https://d.example.com/'],
])('the first page: %s', async (_what, hosts, page) => {
  expect((await summarise(portions(hosts))).first_page).toBe(page);
});
