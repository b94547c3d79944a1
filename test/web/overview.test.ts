import { createGiven, PASSWORD } from '@sallyport/server/testing/given-accounts';
import { startApp, type TestApp } from '@sallyport/server/testing/start-app';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { barriersOf, type Look, startBrowser, type TestBrowser } from '../support/browser.ts';

let browser: TestBrowser;
let app: TestApp;
let given: ReturnType<typeof createGiven>;
let email: string;

beforeAll(async () => {
  [browser, app] = await Promise.all([startBrowser(), startApp('sqlite')]);
  given = createGiven(app);
  email = (await given.administrator()).user.email;
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

test('who is no administrator sees what they may, and is asked for nothing else', async () => {
  const { user } = await given.caller();
  const { page, errors, close } = await signedIn('/', user.email);
  await page.getByRole('link', { name: 'Emergency path' }).waitFor();
  await page.getByRole('heading', { name: 'Counted' }).waitFor();
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
    expect(await barriersOf(page)).toEqual([]);
    expect(errors).toEqual([]);
    await close();
  });
});
