import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownCountryDatabase } from '@sallyport/access/country-database';
import { createGiven, PASSWORD } from '@sallyport/server/testing/given-accounts';
import { guardBlock, sendLines } from '@sallyport/server/testing/guard-line';
import { startApp, type TestApp } from '@sallyport/server/testing/start-app';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { barriersOf, type Look, shareBrowser, type TestBrowser } from '../support/browser.ts';
import { writeCountryDatabase } from '../support/country-database.ts';
import { eventually } from '../support/eventually.ts';
import { until } from '../support/until.ts';

const MINUTE_MS = 60_000;

/** What an earlier server kept: nearly a day, with two hours of which nothing is known, and a peak. */
const keepFigures = (dataDir: string): void => {
  const now = Math.floor(Date.now() / MINUTE_MS);
  const figures = (ago: number) => {
    const requests = Math.round(300 + 200 * Math.sin(ago / 200) + (ago % 7) * 10) + (ago === 100 ? 5_000 : 0);
    return [requests, ago % 50 === 0 ? 12 : 1, ago % 240 < 3 ? 9 : 0, requests * 400, requests * 9_000];
  };
  const known = Array.from({ length: 1_400 }, (_, ago) => ago).filter((ago) => ago < 300 || ago >= 420);
  const requests = { '1xx': 0, '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, other: 0 };
  const last = { at: Date.now(), process: 'earlier', counters: { requests, bytesIn: 0, bytesOut: 0 } };
  mkdirSync(join(dataDir, 'traffic'), { recursive: true });
  const minutes = known.map((ago) => [now - ago, figures(ago)]);
  writeFileSync(join(dataDir, 'traffic/figures.json'), JSON.stringify({ version: 1, last, minutes }));
};

let browser: TestBrowser;
let app: TestApp;
/** Who is no administrator. */
let other: string;
let email: string;
let headers: Record<string, string>;

const writeCountries = () =>
  writeCountryDatabase(
    ownCountryDatabase(app.dataDir),
    { '198.51.100.0/24': 'DE', '203.0.113.0/25': 'FR' },
    (code) => ({ country_code: code }),
  );

beforeAll(async () => {
  [browser, app] = await Promise.all([shareBrowser(), startApp('sqlite')]);
  writeCountries();
  keepFigures(app.dataDir);
  // They are looked for at the start.
  await app.restart();
  const given = createGiven(app);
  const admin = await given.administrator();
  [email, headers] = [admin.user.email, admin.headers];
  // Before a test has the server start anew, which ends what this one is signed in by.
  other = (await given.caller()).user.email;
});
afterAll(async () => {
  await browser?.stop();
  await app?.stop();
});

const signedIn = async (path: string, who = email, look?: Look) => {
  const window = await browser.open(app.url, look);
  await window.page.request.post('/api/v1/auth/login', { data: { email: who, password: PASSWORD } });
  await window.page.goto(path);
  return window;
};

test('what is wrong is told, with a way to its cure, and a fresh system shows what comes next', async () => {
  const { body } = await app.send<{ uuid: string }>('POST', '/proxy-hosts', {
    domain: 'shop.example.com',
    forward_host: '127.0.0.1',
    forward_port: 9,
  });
  const { page, errors, close } = await signedIn('/');
  // No HAProxy runs here, and there is no backup: neither may look well.
  const proxy = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Proxy', exact: true }) });
  await proxy.getByText('Down').waitFor();
  const backups = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Backups', exact: true }) });
  await backups.getByText('None').waitFor();
  await page.getByText(/things are wrong/).waitFor();
  expect(await page.getByText('Everything is all right').count()).toBe(0);
  expect(await page.getByRole('link', { name: 'shop.example.com' }).getAttribute('href')).toBe(`/hosts/${body.uuid}`);

  await page.getByRole('progressbar', { name: '2 of 8 done' }).waitFor();
  await page.getByRole('button', { name: /SSH tunnel/ }).click();
  await page.getByText(/^ssh -L /).waitFor();
  await page.request.post('/api/v1/backups', { data: {} });
  await page.reload();
  await backups.getByText('Fresh').waitFor();
  await page.getByRole('button', { name: 'Hide' }).click();
  await page.getByText('From here to the first page').waitFor({ state: 'detached' });
  expect(errors).toEqual([]);
  await close();
});

test('what was refused is counted of all that are kept, each count with a way to what was counted', async () => {
  const timestamp = new Date().toISOString();
  const block = (index: number, fields: object) => guardBlock({ reference: `top-${index}`, timestamp, ...fields });
  // A database that is broken tells of no country, nor why nobody is counted by one.
  writeFileSync(ownCountryDatabase(app.dataDir), '');
  await sendLines(app.dataDir, [
    ...Array.from({ length: 60 }, (_, index) => block(index, { host: 'shop.example.com', ip: '198.51.100.7' })),
    block(60, { host: 'blog.example.com', ip: '203.0.113.9', monitored: true }),
    block(61, { host: 'blog.example.com', ip: '192.0.2.1', layer: 'acl', rule_id: null, matches: [] }),
    block(62, { timestamp: '2020-01-01T00:00:00.000Z', host: 'old.example.com' }),
  ]);
  const kept = async () => (await app.send('GET', '/security/blocks?limit=1', undefined, headers)).headers;
  await eventually(async () => (await kept()).get('x-total-count')).toBe('63');
  const { page, errors, close } = await signedIn('/');
  await page.getByText(/^61 refused since /).waitFor();
  await page.getByText('One only reported', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'All 63 that are kept' }).waitFor();
  await page.getByRole('link', { name: 'How to get one' }).waitFor();
  writeCountries();
  await page.reload();
  const top = (title: string) =>
    page.locator('.mantine-Paper-root').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
  await top('Countries').getByText('Germany').waitFor();
  expect(await top('Countries').innerText()).toMatch(
    /^Countries\s+Germany\s+60\s+Not known\s+1\s+France\s+1 reported$/,
  );
  expect(await top('Hosts').innerText()).toMatch(
    /^Hosts\s+shop\.example\.com\s+60\s+blog\.example\.com\s+1 \+ 1 reported$/,
  );
  await top('Addresses').getByRole('link', { name: '198.51.100.7 · Germany' }).waitFor();
  expect(
    await top('Rules and reasons')
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
  ).toEqual(['/blocks?search=942100', '/blocks?layer=acl']);
  await top('Hosts').getByRole('link', { name: 'blog.example.com' }).click();
  await page.getByText('2 rows').waitFor();
  await page.getByRole('button', { name: 'Without the filter "For blog.example.com"' }).click();
  await page.getByText('63 rows').waitFor();
  expect(errors).toEqual([]);
  await close();
});

test('a country leads to what was refused of it, and another one is chosen there', async () => {
  // What was kept while no country was known gets its own at the start.
  await app.restart();
  const { page, errors, close } = await signedIn('/');
  await page.getByRole('link', { name: 'Germany', exact: true }).click();
  await page.getByText('60 rows').waitFor();
  const country = page.getByRole('combobox', { name: 'Country' });
  expect(await country.inputValue()).toBe('Germany (DE)');
  await country.fill('unkn');
  await page.getByRole('option', { name: 'Country unknown' }).click();
  await page.getByText('1 row', { exact: true }).waitFor();
  expect(errors).toEqual([]);
  await close();
});

test('who is no administrator sees what they may, and is asked for nothing else', async () => {
  const { page, errors, close } = await signedIn('/', other);
  await page.getByRole('link', { name: 'Emergency path' }).waitFor();
  await page.getByRole('heading', { name: 'Counted' }).waitFor();
  await page.getByRole('img', { name: /^Requests and errors over time/ }).waitFor();
  await page
    .getByText(/ requests, at most 5,\d+ in a minute, around .* answered with 4xx, .* answered with 5xx\./)
    .waitFor();
  await page.getByText(/^Nothing is known of 2\.\d hours of this time/).waitFor();
  // A chart that is being laid out knows of no pointer.
  await until('a point tells its figures', async () => {
    await page.locator('.u-over').hover({ position: { x: 300, y: 50 } });
    await page.locator('.u-over').hover({ position: { x: 320, y: 50 } });
    return page.getByText(/: requests [\d,]+, 4xx \d+, 5xx \d+$/).isVisible();
  });
  await page.getByText('1 hour', { exact: true }).click();
  await page.getByText(/^[\d,]+ requests, at most [3-9]\d\d in a minute/).waitFor();
  expect(await page.getByRole('link', { name: 'Backups', exact: true }).count()).toBe(0);
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(errors).toEqual([]);
  await close();
});

describe.each([
  { scheme: 'light', size: [1280, 800], language: 'en' },
  { scheme: 'dark', size: [360, 740], language: 'de' },
] as const)('$scheme, $size.0 wide', (look) => {
  test('nothing is in the way of anybody', async () => {
    const { page, errors, close } = await signedIn('/', email, look);
    await page.getByText('/metrics').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    await page.locator('.uplot canvas').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    expect(errors).toEqual([]);
    await close();
  });
});
