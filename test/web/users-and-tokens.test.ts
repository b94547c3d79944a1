import type { ApiToken, TotpSecret, User } from '@sallyport/contract';
import { shownCode } from '@sallyport/server/testing/authenticator';
import { bearer, createGiven, PASSWORD } from '@sallyport/server/testing/given-accounts';
import { startApp, type TestApp } from '@sallyport/server/testing/start-app';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { barriersOf, type Look, shareBrowser, type TestBrowser } from '../support/browser.ts';
import { openSignedIn } from '../support/signed-in.ts';

let browser: TestBrowser;
let app: TestApp;
let given: ReturnType<typeof createGiven>;
let email: string;
let headers: Record<string, string>;

beforeAll(async () => {
  [browser, app] = await Promise.all([shareBrowser(), startApp('sqlite')]);
  given = createGiven(app);
  const admin = await given.administrator();
  email = admin.user.email;
  headers = admin.headers;
});
afterAll(async () => {
  await browser?.stop();
  await app?.stop();
});

const open = (path: string, look?: Look) => openSignedIn(browser, app.url, { email, path, ...(look ? { look } : {}) });

test('somebody is invited: where the link leads is shown before, the link afterwards, and it lets them in', async () => {
  const { page, errors, close } = await open('/users');
  await page.getByRole('button', { name: 'Invite somebody' }).click();
  await page.getByRole('textbox', { name: 'E-mail address' }).fill(email);
  // No public URL is set: that is said before anything is sent.
  await page.getByText('SAMPLE_TOKEN_PREVIEW').waitFor();
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  await page.getByRole('alert').waitFor();
  await page.getByRole('textbox', { name: 'E-mail address' }).fill('grace@example.com');
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  await page.getByText('No mail was sent').waitFor();
  const link = page.getByRole('textbox', { name: 'Invitation link' });
  const first = await link.inputValue();
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('row').filter({ hasText: 'grace@example.com' }).getByText('Invited').waitFor();

  // Another link voids the first one.
  await page.getByRole('link', { name: 'grace@example.com' }).click();
  await page.getByRole('button', { name: 'New invitation link' }).click();
  await link.waitFor();
  const second = new URL(await link.inputValue());
  expect(errors).toEqual([]);
  await close();

  const invited = await browser.open(app.url);
  await invited.page.goto(`${new URL(first).pathname}${new URL(first).search}`);
  await invited.page.getByText('not valid any more').waitFor();
  await invited.page.goto(`${second.pathname}${second.search}`);
  await invited.page.getByText('Choose a password for grace@example.com').waitFor();
  await invited.page.getByRole('textbox', { name: 'Name', exact: true }).fill('Grace');
  await invited.page.getByLabel('Password', { exact: false }).first().fill('short');
  await invited.page.getByRole('button', { name: 'Accept and sign in' }).click();
  await invited.page.getByText(/^password /).waitFor();
  await invited.page.getByLabel('Password', { exact: false }).first().fill(PASSWORD);
  await invited.page.getByRole('button', { name: 'Accept and sign in' }).click();
  const navigation = invited.page.getByRole('navigation', { name: 'Navigation' });
  await navigation.waitFor();
  // What a user may not do is not shown.
  expect(await navigation.getByRole('link', { name: 'Users' }).count()).toBe(0);
  expect(invited.errors).toEqual([]);
  await invited.close();
});

test('a user is added, given another role, kept out and deleted; the last administrator stays', async () => {
  const { page, errors, close } = await open('/users');
  await page.getByRole('button', { name: 'Add with a password' }).click();
  await page.getByRole('textbox', { name: 'E-mail address' }).fill('lin@example.com');
  await page.locator('input[autocomplete=new-password]').fill('short');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/^password /).waitFor();
  await page.locator('input[autocomplete=new-password]').fill(PASSWORD);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'lin@example.com' }).click();
  await page.getByRole('combobox', { name: 'Role' }).click();
  await page.getByRole('option', { name: 'Administrator' }).click();
  await page.getByRole('switch', { name: 'May sign in' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  const row = page.getByRole('row').filter({ hasText: 'lin@example.com' });
  await row.getByText('Disabled').waitFor();
  const { body: all } = await app.send<User[]>('GET', '/users', undefined, headers);
  expect(all.find((user) => user.email === 'lin@example.com')).toMatchObject({ role: 'admin', status: 'disabled' });
  await row.getByRole('link').click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog', { name: 'Delete lin@' }).getByRole('button', { name: 'Delete' }).click();
  await expect.poll(() => row.count()).toBe(0);

  await page.getByRole('link', { name: email }).click();
  await page.getByRole('switch', { name: 'May sign in' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page
    .getByRole('alert')
    .filter({ hasText: /administrator/ })
    .waitFor();
  expect(errors).toEqual([]);
  await close();
});

test('a second factor is taken off beside a form that is being typed in, and what was typed is saved', async () => {
  const caller = await given.caller();
  const { body } = await app.send<TotpSecret>('POST', '/auth/totp/setup', { password: PASSWORD }, caller.headers);
  const code = shownCode(body.secret, new Date());
  expect((await app.send('POST', '/auth/totp/enable', { code }, caller.headers)).status).toBe(200);
  const { page, errors, close } = await open(`/users/${caller.user.id}`);
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Renamed');
  await page.getByRole('button', { name: 'Take off the second factor' }).click();
  await page
    .getByRole('dialog', { name: 'Take off the second factor of' })
    .getByRole('button', { name: /^Take off/ })
    .click();
  await page.getByText('The second factor is off.').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The user is saved.').waitFor();
  const { body: now } = await app.send<User>('GET', `/users/${caller.user.id}`, undefined, headers);
  expect(now).toMatchObject({ name: 'Renamed', totp_enabled: false });
  expect(errors).toEqual([]);
  await close();
});

test('a token is made, shown once, works, and is revoked', async () => {
  const { page, errors, close } = await open('/tokens');
  await page.getByText('No token yet').waitFor();
  await page.getByRole('button', { name: 'Make a token' }).click();
  await page.getByRole('button', { name: 'Make it' }).click();
  await page.getByText(/^name /).waitFor();
  await page.getByRole('textbox', { name: 'What it is for' }).fill('backup script');
  await page.getByRole('button', { name: 'Make it' }).click();
  const field = page.getByRole('textbox', { name: 'The token' });
  await field.waitFor();
  const token = await field.inputValue();
  expect(await barriersOf(page)).toEqual([]);
  expect((await app.send('GET', '/proxy-hosts', undefined, bearer(token))).status).toBe(200);
  await page.getByRole('button', { name: 'I have it' }).click();
  await page.getByRole('cell', { name: 'backup script', exact: true }).waitFor();
  // Three months unless another time was chosen; and nothing on the page holds it any more.
  const { body } = await app.send<ApiToken[]>('GET', '/tokens', undefined, headers);
  expect(Math.round((Date.parse(body[0]?.expires_at ?? '') - Date.now()) / 86_400_000)).toBe(90);
  await expect.poll(() => page.content()).not.toContain(token);
  await page.getByRole('button', { name: 'Revoke backup script' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No token yet').waitFor();
  expect((await app.send('GET', '/proxy-hosts', undefined, bearer(token))).status).toBe(401);
  expect(errors).toEqual([]);
  await close();
});

describe.each([
  { scheme: 'light', size: [1280, 800] },
  { scheme: 'dark', size: [360, 740] },
] as const)('$scheme, $size.0 wide', (look) => {
  test('users and tokens have no barrier, whatever they are called', async () => {
    const name = `<b>x</b>\u202egnp.${'w'.repeat(200)}`;
    const { body: user } = await app.send<User>(
      'POST',
      '/users',
      { email: `${look.scheme}@example.com`, name, password: PASSWORD },
      headers,
    );
    const { body: token } = await app.send<ApiToken>('POST', '/tokens', { name }, headers);
    const { page, errors, close } = await open(`/users/${user.id}`, look);
    await page.getByRole('switch', { name: 'May sign in' }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    for (const path of ['/users', '/tokens']) {
      await page.goto(path);
      await page.getByText('<b>x</b>').first().waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
      expect(await barriersOf(page)).toEqual([]);
    }
    expect(errors).toEqual([]);
    await close();
    await app.send('DELETE', `/tokens/${token.id}`, undefined, headers);
  });
});
