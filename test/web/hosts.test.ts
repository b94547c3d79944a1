import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createRelay } from 'node:net';
import { type HistoryEntry, type NewProxyHost, PROXY_HOST_DEFAULTS, type ProxyHost } from '@sallyport/contract';
import { apiSocket } from '@sallyport/deployment/places';
import { createGiven, PASSWORD } from '@sallyport/server/testing/given-accounts';
import { proxyHostStore } from '@sallyport/server/testing/parts';
import { startApp, type TestApp } from '@sallyport/server/testing/start-app';
import { openDatabase } from '@sallyport/store/database/open';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { barriersOf, type Look, shareBrowser, type TestBrowser } from '../support/browser.ts';

let browser: TestBrowser;
let app: TestApp;
let administrator: string;
let standard: string;

beforeAll(async () => {
  [browser, app] = await Promise.all([shareBrowser(), startApp('sqlite')]);
  const given = createGiven(app);
  administrator = (await given.administrator()).user.email;
  standard = (await given.user()).email;
});
afterAll(async () => {
  await browser?.stop();
  await app?.stop();
});
afterEach(async () => {
  const { body } = await app.send<ProxyHost[]>('GET', '/proxy-hosts');
  const uuids = body.map(({ uuid }) => uuid).slice(0, 1_000);
  if (uuids.length > 0) await app.send('POST', '/proxy-hosts/bulk-delete', { uuids });
});

const signedIn = async (path: string, look?: Look, email = administrator) => {
  const window = await browser.open(app.url, look);
  await window.page.request.post('/api/v1/auth/login', { data: { email, password: PASSWORD } });
  await window.page.goto(path);
  return window;
};
const add = async (fields: Partial<NewProxyHost> = {}): Promise<ProxyHost> => {
  const host = { domain: 'app.example.com', forward_host: '127.0.0.1', forward_port: 9, ...fields };
  const { status, body } = await app.send<ProxyHost>('POST', '/proxy-hosts', host);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
};
const stored = async (uuid: string) => (await app.send<ProxyHost>('GET', `/proxy-hosts/${uuid}`)).body;
const origin = () => {
  const server = createServer((_request, response) => response.end('here'));
  return new Promise<{ port: number; stop: () => void }>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve({ port: (server.address() as AddressInfo).port, stop: () => server.close() });
    });
  });
};
/** How many clicks were made on a page since. */
const countClicks = async (page: Page): Promise<() => Promise<number>> => {
  await page.evaluate('window.clicks = 0; addEventListener("pointerdown", () => window.clicks++, true)');
  return () => page.evaluate<number>('window.clicks');
};

test('the first host takes three fields and two clicks; its origin can be tried before', async () => {
  const { port, stop } = await origin();
  const { page, errors, close } = await signedIn('/hosts');
  await page.getByText('No host yet').waitFor();
  const clicks = await countClicks(page);
  await page.getByRole('button', { name: 'Add a host' }).first().click();
  await page.getByLabel('Domain names').fill('App.Example.com');
  await page.getByRole('textbox', { name: 'Origin' }).fill('127.0.0.1');
  await page.getByRole('textbox', { name: 'Port' }).fill(String(port));
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'app.example.com', exact: true }).waitFor();
  expect(await clicks()).toBe(2);

  // An address that is pasted as a whole is taken apart; what is reserved is refused at its field.
  await page.getByRole('button', { name: 'Add a host' }).click();
  await page.getByRole('textbox', { name: 'Origin' }).fill(`https://127.0.0.1:${port}/some/path`);
  expect(await page.getByRole('textbox', { name: 'Port' }).inputValue()).toBe(String(port));
  await page.getByRole('button', { name: 'Test the origin' }).click();
  await page.getByRole('status').getByText('No HTTP answer').waitFor();
  await page.getByRole('textbox', { name: 'Origin' }).fill(`http://127.0.0.1:${port}`);
  await page.getByRole('button', { name: 'Test the origin' }).click();
  await page.getByRole('status').getByText(`127.0.0.1:${port}, status 200`).waitFor();
  await page.getByRole('textbox', { name: 'Origin' }).fill('169.254.169.254');
  await page.getByRole('button', { name: 'Test the origin' }).click();
  await page.getByText(/^forward_host is a link-local/).waitFor();
  await page.getByRole('textbox', { name: 'Origin' }).fill('127.0.0.1');
  await page.getByLabel('Domain names').fill('not a name!');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/^domain /).waitFor();
  await page.getByLabel('Domain names').fill('second.example.com');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'second.example.com', exact: true }).waitFor();
  stop();
  expect(errors).toEqual([]);
  await close();
});

test('a host is changed in groups, its history takes the change back, and it is cloned', async () => {
  const host = await add();
  await add({ domain: 'taken.example.com' });
  const { page, errors, close } = await signedIn(`/hosts/${host.uuid}`);
  await page.getByRole('button', { name: 'TLS' }).click();
  await page.getByRole('switch', { name: 'Remember HTTPS (HSTS)' }).check();
  await page.getByRole('switch', { name: 'HSTS for subdomains' }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'app.example.com', exact: true }).waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await stored(host.uuid)).toMatchObject({ hsts_enabled: true, hsts_subdomains: true, ssl_forced: false });

  // What it will not do stands at its field, in a group that is open for it.
  await page.getByRole('link', { name: 'app.example.com', exact: true }).click();
  await page.getByText('no certificate covers app.example.com').waitFor();
  await page.getByRole('button', { name: 'History' }).click();
  await page.getByRole('cell', { name: 'hsts_enabled' }).waitFor();
  await page.getByRole('button', { name: 'Take back' }).click();
  await page.getByText('The change is taken back').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await stored(host.uuid)).toMatchObject({ hsts_enabled: false, hsts_subdomains: false });

  await page.getByRole('button', { name: 'Actions for app.example.com' }).click();
  await page.getByRole('menuitem', { name: 'Clone' }).click();
  await page.getByLabel('Domain names').fill('taken.example.com');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/^domain taken.example.com already belongs/).waitFor();
  await page.getByLabel('Domain names').fill('clone.example.com');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'clone.example.com', exact: true }).waitFor();
  expect(errors).toEqual([]);
  await close();
});

test("another administrator's change behind the form is not written over", async () => {
  const host = await add();
  const { page, close } = await signedIn(`/hosts/${host.uuid}`);
  await page.getByRole('textbox', { name: 'Port' }).fill('81');
  await app.send('PUT', `/proxy-hosts/${host.uuid}`, { websocket_support: true });
  // Read anew meanwhile, as it is whenever the window comes to the front.
  const again = page.waitForResponse((response) => response.url().endsWith(`/proxy-hosts/${host.uuid}`));
  await page.clock.install();
  await page.clock.fastForward(60_000);
  await page.evaluate('document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))');
  await again;
  await page.getByRole('button', { name: 'Save' }).click();
  const conflict = page.getByRole('alert').filter({ hasText: 'This was changed in between' });
  await conflict.getByRole('button', { name: 'Keep mine' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await stored(host.uuid)).toMatchObject({ forward_port: 81, websocket_support: true });
  await close();
});

test('twelve hosts are changed alike in four clicks, and all of it is undone', async () => {
  const made: ProxyHost[] = [];
  for (let n = 10; n < 22; n++) made.push(await add({ domain: `h${n}.example.com` }));
  const forced = async () => {
    const hosts = await Promise.all(made.map(({ uuid }) => stored(uuid)));
    return hosts.filter(({ ssl_forced }) => ssl_forced).length;
  };
  const { page, errors, close } = await signedIn('/hosts');
  await page.getByRole('link', { name: 'h21.example.com', exact: true }).waitFor();
  const clicks = await countClicks(page);
  await page.getByRole('checkbox', { name: 'Choose all rows' }).click();
  await page.getByRole('button', { name: 'Change…' }).click();
  const change = page.getByRole('dialog', { name: 'Change 12 hosts alike' });
  await change.getByRole('radiogroup', { name: 'Force HTTPS' }).getByText('On').click();
  await change.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('12 hosts are changed').waitFor();
  expect(await clicks()).toBe(4);
  expect(await forced()).toBe(12);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Taken back').waitFor();
  expect(await forced()).toBe(0);

  // With Shift all between; a host that is deleted comes back as it was.
  await page.getByRole('row').filter({ hasText: 'h10.' }).getByRole('checkbox').click();
  await page
    .getByRole('row')
    .filter({ hasText: 'h12.' })
    .getByRole('checkbox')
    .click({ modifiers: ['Shift'] });
  await page.getByText('3 hosts chosen', { exact: true }).waitFor();
  // Who deletes what is chosen knows how much of it they do not see.
  const search = page.getByRole('searchbox', { name: 'Search' });
  await search.fill('h12');
  await page.getByText('3 hosts chosen, 2 not in sight').waitFor();
  await search.fill('');
  await page.getByText('3 hosts chosen', { exact: true }).waitFor();
  await page.getByRole('region', { name: 'Chosen hosts' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByText('3 hosts are deleted').waitFor();
  await page.getByRole('link', { name: 'h10.example.com', exact: true }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('link', { name: 'h10.example.com', exact: true }).waitFor();
  const { body: history } = await app.send<HistoryEntry[]>('GET', `/proxy-hosts/${made[0]?.uuid}/history`);
  expect(history.map(({ action }) => action).slice(0, 2)).toEqual(['proxy_host.create', 'proxy_host.delete']);
  expect(errors).toEqual([]);
  await close();
});

test('the host by which one came is deleted by mistake only as long as nobody confirms it', async () => {
  const forward_port = Number(new URL(app.url).port);
  const { uuid } = await add({ domain: 'manage.example.com', forward_port, forward_reserved: true });
  // What our own proxy sends comes by this socket.
  const relay = createRelay((client) => {
    const api = connect(apiSocket(app.dataDir));
    client.pipe(api).pipe(client);
    for (const side of [client, api]) side.on('error', () => side.destroy());
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const { page, errors, close } = await browser.open(`http://127.0.0.1:${(relay.address() as AddressInfo).port}`);
  await page.request.post('/api/v1/auth/login', { data: { email: administrator, password: PASSWORD } });
  await page.goto('/hosts');
  const deleteIt = async (answer: 'accept' | 'dismiss') => {
    const asked = new Promise<string>((resolve) => {
      page.once('dialog', (dialog) => void dialog[answer]().then(() => resolve(dialog.message())));
    });
    await page.getByRole('button', { name: 'Actions for manage.example.com' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    return asked;
  };
  expect(await deleteIt('dismiss')).toContain('manage.example.com would not lead to this API any more');
  await page.getByText(/^This could lock you out/).waitFor();
  await deleteIt('accept');
  await page.getByText(/^A change takes itself back in/).waitFor();
  await page.getByText('No host yet').waitFor();
  await page.getByRole('button', { name: 'Take it back now' }).click();
  await page.getByRole('link', { name: 'manage.example.com', exact: true }).waitFor();
  expect((await stored(uuid)).domain).toBe('manage.example.com');
  expect(errors).toEqual([]);
  await close();
  relay.close();
});

test('a standard user manages routes, and is not offered what protects', async () => {
  const host = await add();
  const { page, errors, close } = await signedIn('/hosts', {}, standard);
  await page.getByRole('checkbox', { name: 'Choose all rows' }).click();
  await page.getByRole('button', { name: 'Change…' }).click();
  const change = page.getByRole('dialog', { name: 'Change one host' });
  await change.getByText('Force HTTPS').waitFor();
  expect(await change.getByText('Firewall').count()).toBe(0);
  await change.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('link', { name: 'app.example.com', exact: true }).click();
  await page.getByRole('button', { name: 'Protection' }).click();
  await expect.poll(() => page.getByRole('switch', { name: 'Refuse known probes' }).isDisabled()).toBe(true);
  await page.getByRole('textbox', { name: 'Port' }).fill('82');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await stored(host.uuid)).toMatchObject({ forward_port: 82 });
  expect(errors).toEqual([]);
  await close();
});

describe.each([
  { scheme: 'light', size: [1280, 800] },
  { scheme: 'dark', size: [390, 800] },
] as const)('$scheme, $size.0 wide', (look) => {
  test('labels that are made to break it do not, and nobody is kept out', async () => {
    const host = await add({ name: `<b>x</b>\u202egnp.${'w'.repeat(200)}`, hsts_subdomains: true });
    await add({ domain: `${'w'.repeat(60)}.${'x'.repeat(60)}.${'y'.repeat(60)}.example`, enabled: false });
    const { page, errors, close } = await signedIn('/hosts', look);
    await page.getByRole('link', { name: 'app.example.com', exact: true }).waitFor();
    const isWithin = () => page.evaluate('document.documentElement.scrollWidth <= window.innerWidth');
    expect(await isWithin()).toBe(true);
    expect(await barriersOf(page)).toEqual([]);
    await page.goto(`/hosts/${host.uuid}`);
    await page.getByText('has no effect without hsts_enabled').waitFor();
    await page.getByRole('button', { name: 'Advanced' }).click();
    await page.getByRole('switch', { name: 'HTTP/2 to the origin' }).waitFor();
    expect(await isWithin()).toBe(true);
    expect(await barriersOf(page)).toEqual([]);
    expect(errors).toEqual([]);
    await close();
  });
});

describe('ten thousand hosts', () => {
  const HOSTS = 10_000;

  const fill = async () => {
    const database = openDatabase({ dataDir: app.dataDir, databaseUrl: undefined });
    const now = new Date().toISOString();
    const rows = Array.from({ length: HOSTS }, (_, n) => {
      const domain = `h${String(n).padStart(5, '0')}.example.com`;
      const isOdd = n % 2 === 1;
      const fields = { ...PROXY_HOST_DEFAULTS, domain, forward_host: '127.0.0.1', forward_port: 9, ssl_forced: isOdd };
      return { ...fields, uuid: randomUUID(), created_at: now, updated_at: now, names: [domain] };
    });
    await database.transact((tx) => proxyHostStore(tx).insertMany(rows));
    await database.stop();
  };

  test('scroll, are searched and filtered, with less than a hundred rows in the page', async () => {
    await fill();
    const { page, errors, close } = await signedIn('/hosts');
    await page.getByRole('link', { name: 'h00000.example.com', exact: true }).waitFor();
    const table = page.getByRole('table', { name: 'Hosts' });
    const rowsInPage = () => page.locator('[role=row]').count();
    const rowCount = () => table.getAttribute('aria-rowcount');
    expect(await rowCount()).toBe(String(HOSTS + 1));
    expect(await rowsInPage()).toBeLessThan(100);
    await table.evaluate((frame) => frame.scrollTo(0, frame.scrollHeight));
    await page.getByRole('link', { name: 'h09999.example.com', exact: true }).waitFor();
    expect(await rowsInPage()).toBeLessThan(100);
    // Elements that showed other rows show these whole, in their order for those who go through them by keyboard.
    const rowsShown = () =>
      page.locator('[role=row]:has([role=cell])').evaluateAll((rows) =>
        rows.map((row) => ({
          place: Number(row.getAttribute('aria-rowindex')),
          name: row.querySelector('a')?.textContent,
          menu: row.querySelector('[aria-haspopup]')?.getAttribute('aria-label'),
        })),
      );
    const isInOrder = async () =>
      (await rowsShown()).every(({ place }, n, all) => place === HOSTS + 2 - all.length + n);
    await expect.poll(isInOrder).toBe(true);
    for (const { place, name, menu } of await rowsShown()) {
      const domain = `h${String(place - 2).padStart(5, '0')}.example.com`;
      expect({ name, menu }).toEqual({ name: domain, menu: `Actions for ${domain}` });
    }
    // What has the focus stays what it was.
    const focused = page.getByRole('link', { name: 'h09995.example.com', exact: true });
    await focused.focus();
    await table.evaluate((frame) => frame.scrollBy(0, -100));
    await page.getByRole('link', { name: 'h09975.example.com', exact: true }).waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('h09995.example.com');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toContain('h09995.example.com');

    await page.getByRole('searchbox', { name: 'Search' }).fill('example h04321');
    await page.getByRole('link', { name: 'h04321.example.com', exact: true }).waitFor();
    await expect.poll(rowCount).toBe('2');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('combobox', { name: 'Filter by what a host has' }).click();
    await page.getByRole('option', { name: 'HTTPS not forced' }).click();
    await expect.poll(rowCount).toBe(String(HOSTS / 2 + 1));
    expect(new URL(page.url()).search).toBe('?feature=%21forced');

    // Hidden columns are remembered.
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Origin' }).click();
    await page.getByRole('columnheader', { name: 'Origin' }).waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('link', { name: 'h00000.example.com', exact: true }).waitFor();
    expect(await page.getByRole('columnheader', { name: 'Origin' }).count()).toBe(0);
    expect(await rowCount()).toBe(String(HOSTS / 2 + 1));
    await page.getByRole('checkbox', { name: 'Choose all rows' }).click();
    await page.getByText('5,000 hosts chosen').waitFor();
    expect(errors).toEqual([]);
    await close();
  });
});
