import { startApp, type TestApp } from '@sallyport/server/testing/start-app';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { barriersOf, shareBrowser, type TestBrowser } from '../support/browser.ts';

let browser: TestBrowser;
let app: TestApp;

beforeAll(async () => {
  [browser, app] = await Promise.all([shareBrowser(), startApp('sqlite', { SALLYPORT_API_AUTH: 'required' })]);
});
afterAll(async () => {
  await browser?.stop();
  await app?.stop();
});

const EMAIL = 'ada@example.com';
const PASSWORD = 'correct horse battery';

test('whoever comes first makes the administrator, signs out, and gets back to where they were', async () => {
  const { page, errors, close } = await browser.open(app.url);
  await page.goto('/');
  await page.getByRole('heading', { name: 'Welcome to Sallyport' }).waitFor();
  await page.getByLabel('E-mail address').fill(EMAIL);
  await page.getByLabel('Password', { exact: false }).first().fill('short');
  await page.getByRole('button', { name: 'Create the administrator' }).click();
  // What the server refuses is told at its field, and nothing typed is lost.
  await page.getByText(/^password /).waitFor();
  expect(await page.getByLabel('E-mail address').inputValue()).toBe(EMAIL);
  await page.getByLabel('Password', { exact: false }).first().fill(PASSWORD);
  await page.getByRole('button', { name: 'Create the administrator' }).click();
  await page.getByRole('navigation', { name: 'Navigation' }).waitFor();

  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();

  await page.goto('/hosts?search=a');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('E-mail address').fill(EMAIL);
  await page.getByLabel('Password', { exact: false }).first().fill('not the password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Password', { exact: false }).first().fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/hosts?search=a');

  // Whatever can be reached is found by what it is called.
  for (const [typed, found, leadsTo] of [
    ['invite', 'Invite somebody', '/users/invite'],
    ['audit entries older', 'audit.retention_days', '/settings#audit.retention_days'],
  ] as const) {
    const search = page.getByPlaceholder('Search everything');
    // It comes right after the first look.
    const open = async () => {
      await page.keyboard.press('Control+K');
      return search.isVisible();
    };
    await expect.poll(open).toBe(true);
    await search.fill(typed);
    await page.getByRole('dialog').getByRole('button', { name: found }).click();
    await page.waitForURL(`**${leadsTo}`);
    // In a form that is opened a field has the focus: from there, too.
    if (leadsTo === '/users/invite') await page.getByRole('textbox', { name: 'E-mail address' }).click();
  }
  // No script can read what the session is known by.
  expect(await page.evaluate('document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toMatch(
    /session|token|ey[A-Za-z0-9_-]{20}/,
  );
  expect(errors).toEqual([]);
  await close();
});

test('a session that ends takes nothing away that was typed', async () => {
  const { page, errors, close } = await browser.open(app.url);
  expect((await page.request.post('/api/v1/auth/login', { data: { email: EMAIL, password: PASSWORD } })).ok()).toBe(
    true,
  );
  await page.goto('/hosts/new');
  const typed = { 'Domain names': 'typed.example.com', Origin: '127.0.0.1', Port: '8080' };
  for (const [name, value] of Object.entries(typed)) await page.getByRole('textbox', { name }).fill(value);
  await page.context().clearCookies();
  await page.getByRole('button', { name: 'Save' }).click();

  const again = page.getByRole('dialog', { name: 'Your session has ended' });
  await again.getByLabel('Password', { exact: false }).first().fill('not the password');
  await again.getByRole('button', { name: 'Sign in' }).click();
  await again.getByRole('alert').waitFor();
  expect(await again.getByLabel('E-mail address').inputValue()).toBe(EMAIL);
  expect(await barriersOf(page)).toEqual([]);
  // Neither closes the form below nor leads away from it.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+K');
  await again.getByLabel('Password', { exact: false }).first().fill(PASSWORD);
  await again.getByRole('button', { name: 'Sign in' }).click();
  await again.waitFor({ state: 'detached' });
  for (const [name, value] of Object.entries(typed))
    expect(await page.getByRole('textbox', { name }).inputValue()).toBe(value);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'typed.example.com', exact: true }).waitFor();
  expect(errors).toEqual([]);
  await close();
});

test("what was typed and read is not the next one's who signs in, from whatever window", async () => {
  const other = { email: 'grace@example.com', password: 'another battery staple' };
  const { page, errors, close } = await browser.open(app.url);
  const signIn = async (data: { email: string; password: string }) =>
    expect((await page.request.post('/api/v1/auth/login', { data })).ok()).toBe(true);
  await signIn({ email: EMAIL, password: PASSWORD });
  const made = await page.request.post('/api/v1/users', { data: { ...other, role: 'user' } });
  expect(made.status(), await made.text()).toBe(201);
  await page.goto('/hosts/new');
  const domain = page.getByRole('textbox', { name: 'Domain names' });
  await domain.fill('of-ada.example.com');
  await page.getByRole('navigation', { name: 'Navigation', includeHidden: true }).getByText('Users').waitFor();
  await page.context().clearCookies();
  // Read anew as soon as the window is looked at again.
  await domain.press('Tab');
  await page.getByRole('button', { name: 'Save' }).click();
  const again = page.getByRole('dialog', { name: 'Your session has ended' });
  await again.waitFor();
  await signIn(other);
  await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
  await page.getByText(`You are signed in as ${other.email} now.`).waitFor();
  await again.waitFor({ state: 'detached' });
  await domain.waitFor();
  expect(await domain.inputValue()).toBe('');
  expect(
    await page.getByRole('navigation', { name: 'Navigation', includeHidden: true }).getByText('Users').count(),
  ).toBe(0);
  expect(errors).toEqual([]);
  await close();
});

test('an address of another site is nowhere to go after signing in', async () => {
  const { page, close } = await browser.open(app.url);
  await page.goto(`/sign-in?next=${encodeURIComponent('//elsewhere.example/x')}`);
  await page.getByLabel('E-mail address').fill(EMAIL);
  await page.getByLabel('Password', { exact: false }).first().fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Navigation' }).waitFor();
  expect(new URL(page.url()).origin).toBe(new URL(app.url).origin);
  await close();
});

describe.each(['light', 'dark'] as const)('in %s colours', (scheme) => {
  test.each(['/sign-in', '/accept-invite?token=none'])('%s has no barrier, and speaks German', async (path) => {
    const { page, errors, close } = await browser.open(app.url, { scheme, language: 'de' });
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toMatch(/^(Anmelden|Du bist eingeladen)$/);
    expect(await barriersOf(page)).toEqual([]);
    expect(errors).toEqual([]);
    await close();
  });
});
