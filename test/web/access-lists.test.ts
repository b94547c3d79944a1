import { isCountry } from '@sallyport/access';
import type { AccessList, Confirmation, ProxyHost } from '@sallyport/contract';
import { createGiven, PASSWORD } from '@sallyport/server/testing/given-accounts';
import { startApp, type TestApp } from '@sallyport/server/testing/start-app';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { barriersOf, type Look, shareBrowser, type TestBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';

let browser: TestBrowser;
let app: TestApp;
let given: ReturnType<typeof createGiven>;
let email: string;

beforeAll(async () => {
  [browser, app] = await Promise.all([shareBrowser(), startApp('sqlite')]);
  given = createGiven(app);
  email = (await given.administrator()).user.email;
});
afterAll(async () => {
  await browser?.stop();
  await app?.stop();
});

const signedIn = async (path: string, look?: Look, as = email) => {
  const window = await browser.open(app.url, look);
  await window.page.request.post('/api/v1/auth/login', { data: { email: as, password: PASSWORD } });
  await window.page.goto(path);
  return window;
};

test('a list is made out of pasted lines, wrong entries are told at their place, and addresses are tried', async () => {
  const { page, errors, close } = await signedIn('/access-lists');
  await page.getByText('No access list yet').waitFor();
  await page.getByRole('button', { name: 'Add an access list' }).first().click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('office');
  // As from the clipboard: one a line, with notes.
  await page.getByLabel('Network 1', { exact: true }).focus();
  await page.evaluate(`{
    const clipboardData = new DataTransfer();
    clipboardData.setData('text', '192.0.2.0/24 # head office\\n10.0.0.0/33 vpn\\n\\n2001:db8::/32');
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }`);
  expect(await page.getByLabel('Note on network 1', { exact: true }).inputValue()).toBe('head office');
  await page.getByText('"10.0.0.0/33" has a prefix length outside 0–32').waitFor();
  expect(await page.getByLabel('Network 2', { exact: true }).getAttribute('aria-invalid')).toBe('true');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('"10.0.0.0/33" has a prefix length').waitFor();
  await page.getByLabel('Network 2', { exact: true }).fill('10.0.0.0/8');
  // 127.0.0.1 is in none of them.
  await page.getByRole('alert').filter({ hasText: 'This list would keep you out' }).waitFor();
  await page.getByLabel('Would this address get in?').fill('192.0.2.77');
  await page.getByRole('status').filter({ hasText: 'Gets in' }).waitFor();
  await page.getByLabel('Would this address get in?').fill('198.51.100.1');
  await page.getByRole('status').filter({ hasText: 'Is refused' }).waitFor();
  await page.getByRole('radio', { name: 'Everyone but some countries' }).check();
  await page.getByRole('combobox', { name: 'Countries that are kept out' }).fill('Fran');
  await page.getByRole('option', { name: 'France (FR)' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'office' }).waitFor();
  const { body } = await app.send<AccessList[]>('GET', '/access-lists');
  expect(body).toMatchObject([
    {
      type: 'geo_deny',
      countries: ['FR'],
      rules: [
        { cidr: '192.0.2.0/24', description: 'head office' },
        { cidr: '10.0.0.0/8', description: 'vpn' },
        { cidr: '2001:db8::/32', description: '' },
      ],
    },
  ]);

  await page.getByRole('link', { name: 'office' }).click();
  await page.getByRole('button', { name: 'Remove network 2' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog', { name: 'office' }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'office' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog', { name: 'Delete office?' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No access list yet').waitFor();
  expect(errors).toEqual([]);
  await close();
});

test('a change that keeps its maker out of a host goes back unless it is confirmed', async () => {
  const { body: list } = await app.send<AccessList>('POST', '/access-lists', { name: 'used', type: 'deny' });
  const host = { domain: 'guarded.example', forward_host: '127.0.0.1', forward_port: 9, access_list_id: list.id };
  const { body: made } = await app.send<ProxyHost>('POST', '/proxy-hosts', host);
  const { page, errors, close } = await signedIn(`/access-lists/${list.uuid}`);
  await page.getByText('One host uses it').waitFor();
  await page.getByRole('link', { name: 'guarded.example' }).waitFor();
  await page.getByLabel('Network 1', { exact: true }).fill('127.0.0.0/8');
  await page.getByRole('checkbox', { name: 'Take it back after a minute' }).waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Everything works: keep the change' }).click();
  await until(
    'nothing waits for confirmation',
    async () =>
      (await page.request.get('/api/v1/security/confirm').then((answer) => answer.json() as Promise<Confirmation[]>))
        .length === 0,
    30_000,
  );
  expect((await app.send<AccessList>('GET', `/access-lists/${list.id}`)).body.rules).toHaveLength(1);
  // In use: the refusal says by whom.
  await page.goto(`/access-lists/${list.uuid}`);
  await page.getByRole('button', { name: 'Delete' }).click();
  const question = page.getByRole('dialog', { name: 'Delete used?' });
  await question.getByRole('button', { name: 'Delete' }).click();
  await question.getByRole('alert').getByText('in use').waitFor();
  expect(errors).toEqual([]);
  await close();
  await app.send('DELETE', `/proxy-hosts/${made.id}`);
  await app.send('DELETE', `/access-lists/${list.id}`);
});

test('who may only look sees a list and tries addresses, and is offered nothing else', async () => {
  const { body: list } = await app.send<AccessList>('POST', '/access-lists', {
    name: 'seen',
    type: 'allow',
    rules: [{ cidr: '192.0.2.1' }],
  });
  const { user } = await given.caller();
  const { page, errors, close } = await signedIn('/access-lists', {}, user.email);
  await page.getByRole('link', { name: 'seen' }).click();
  await page.getByLabel('Would this address get in?').fill('192.0.2.1');
  await page.getByRole('status').filter({ hasText: 'Gets in' }).waitFor();
  expect(await page.getByLabel('Network 1', { exact: true }).isDisabled()).toBe(true);
  expect(await page.getByRole('button', { name: /Save|Delete|Add/ }).count()).toBe(0);
  expect(errors).toEqual([]);
  await close();
  await app.send('DELETE', `/access-lists/${list.id}`);
});

test('the countries on offer are those that the server takes', async () => {
  const { page, close } = await signedIn('/access-lists/new');
  await page.getByRole('radio', { name: 'Only some countries' }).check();
  await page.getByRole('combobox', { name: 'Countries that get in' }).click();
  await page.getByRole('option', { name: 'Germany (DE)' }).waitFor();
  const offered = await page.getByRole('option').allTextContents();
  expect(offered.map((text) => text.slice(-3, -1)).filter((code) => !isCountry(code))).toEqual([]);
  expect(offered).toHaveLength(250);
  await close();
});

describe.each([
  { scheme: 'light', size: [1280, 800] },
  { scheme: 'dark', size: [360, 740] },
] as const)('$scheme, $size.0 wide', (look) => {
  test('long names and long lists fit, without barriers', async () => {
    const name = `<b>x</b>\u202egnp.${'w'.repeat(200)}`;
    const rules = Array.from({ length: 2_000 }, (_, at) => ({
      cidr: `10.0.${at >> 8}.${at & 255}`,
      description: name,
    }));
    const { body } = await app.send<AccessList>('POST', '/access-lists', { name, type: 'allow', rules });
    const { page, errors, close } = await signedIn('/access-lists', look);
    await page.getByRole('link', { name: '<b>x</b>' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    expect(await barriersOf(page)).toEqual([]);
    await page.goto(`/access-lists/${body.uuid}`);
    await page.getByLabel('Network 1', { exact: true }).waitFor();
    await page.getByRole('alert').filter({ hasText: 'keep you out' }).waitFor();
    expect(await page.getByRole('textbox', { name: /^Network / }).count()).toBeLessThan(60);
    expect(await barriersOf(page)).toEqual([]);
    expect(errors).toEqual([]);
    await app.send('DELETE', `/access-lists/${body.id}`);
    await close();
  });
});
