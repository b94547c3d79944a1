import type { ProxyHost } from '@sallyport/contract';
import { guardBlock, sendLines } from '@sallyport/server/testing/guard-line';
import { beforeAll, describe, expect, test } from 'vitest';
import { barriersOf } from '../support/browser.ts';
import { startWeb } from '../support/web.ts';

const web = startWeb();
const { signedIn } = web;

const REFERENCE = '0f9c2f7e-0000-4000-8000-000000000001';
const ODD = '0f9c2f7e-0000-4000-8000-000000000002';
const SHUT_OUT = '0f9c2f7e-0000-4000-8000-000000000003';
/** What a visitor may send to break the page. */
const WEIRD = `<b>x</b>\u202e${'w'.repeat(1_000)}`;

beforeAll(async () => {
  const host = { domain: 'app.example.com', forward_host: '127.0.0.1', forward_port: 9 };
  await web.app.send<ProxyHost>('POST', '/proxy-hosts', host);
  await sendLines(web.app.dataDir, [
    guardBlock({ reference: REFERENCE, host_id: 1 }),
    guardBlock({ reference: ODD, request_uri: `/?q=${encodeURIComponent(WEIRD)}`, user_agent: WEIRD, ip: '192.0.2.9' }),
    guardBlock({ reference: SHUT_OUT, layer: 'acl', matches: [], rule_id: null, ip: '198.51.100.66' }),
  ]);
});

const allowedOf = async () =>
  (await web.app.send<{ config: { waf_exclusions: object[] } | null }>('GET', '/security/config')).body.config
    ?.waf_exclusions;

test('a refused request is explained and allowed from its reference in four clicks, signing in among them', async () => {
  // The account is made, and signed out again.
  const { page, errors, close } = await signedIn('/');
  await page.context().clearCookies();
  await page.goto('/');
  let clicks = 0;
  const click = async (name: string, role: 'button' | 'link') => {
    await page.getByRole(role, { name, exact: true }).click();
    clicks += 1;
  };
  await page.getByLabel('E-mail address').fill('admin@example.com');
  await page.getByRole('textbox', { name: 'Password' }).fill('correct horse battery');
  await click('Sign in', 'button');
  await click('Blocks', 'link');
  await page.getByRole('searchbox', { name: 'Search' }).fill(REFERENCE);
  const drawer = page.getByRole('dialog');
  await drawer.getByText('SQL Injection Attack Detected').waitFor();
  // The piece that matched is marked where it stands in the request, as the application reads it.
  await drawer
    .getByRole('row', { name: /GET \/search/ })
    .locator('mark', { hasText: "' or 1=1" })
    .waitFor();
  await drawer
    .getByText('Rule 942100 will not look at ARGS:q, in requests to app.example.com/search and below.')
    .waitFor();
  await click('Allow from now on', 'button');
  await drawer.getByText('Such requests pass from now on').waitFor();
  expect(clicks).toBeLessThanOrEqual(4);
  expect(await allowedOf()).toMatchObject([{ rule_id: 942100, target: 'ARGS:q', path: '/search' }]);
  expect(errors).toEqual([]);
  await close();
});

test('scope and end of an exclusion are chosen, and shown in words before it is made', async () => {
  const { page, close } = await signedIn(`/blocks/${REFERENCE}`);
  const drawer = page.getByRole('dialog');
  await drawer.getByLabel('Where').selectOption('Everywhere on this host');
  await drawer.getByLabel('In what').selectOption('In the whole request');
  await drawer.getByLabel('Until').selectOption('Tomorrow');
  await drawer.getByText('Rule 942100 will not look at anything, in requests to app.example.com.').waitFor();
  await drawer.getByRole('button', { name: 'Allow from now on' }).click();
  await drawer.getByText('Such requests pass from now on').waitFor();
  const made = (await allowedOf())?.at(-1);
  expect(made).toMatchObject({ rule_id: 942100, host_uuid: expect.any(String), expires_at: expect.any(String) });
  expect(made).not.toHaveProperty('path');
  expect(made).not.toHaveProperty('target');
  await close();
});

test('the list is searched by address, and narrowed to what refused', async () => {
  const { page, close } = await signedIn('/blocks');
  await page.getByRole('searchbox', { name: 'Search' }).fill('198.51.100.66');
  await page.getByRole('cell', { name: '203.0.113.7' }).waitFor({ state: 'detached' });
  await page.getByRole('cell', { name: '198.51.100.66' }).waitFor();
  await page.getByRole('combobox', { name: 'Refused by' }).selectOption('Firewall');
  await page.getByText('No refused request matches.').waitFor();
  await page.goto(`/blocks/${SHUT_OUT}`);
  await page.getByRole('link', { name: 'Look at the access lists' }).waitFor();
  await page.goto('/blocks/no-such-reference');
  await page.getByText('Nothing is known of this reference').waitFor();
  await close();
});

describe.each([
  { scheme: 'light', size: [1280, 800] },
  { scheme: 'dark', size: [360, 740] },
] as const)('$scheme, $size.0 wide', (look) => {
  test('what a visitor sent breaks nothing, and nothing is in the way', async () => {
    const { page, errors, close } = await signedIn('/blocks', look);
    await page.getByRole('link', { name: /<b>x/ }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    expect(await barriersOf(page)).toEqual([]);
    for (const reference of [REFERENCE, ODD]) {
      await page.goto(`/blocks/${reference}`);
      await page.getByRole('button', { name: 'Allow from now on' }).waitFor();
      expect(await barriersOf(page)).toEqual([]);
    }
    expect(errors).toEqual([]);
    await close();
  });
});
