import type { RecoveryCodes, TotpSecret } from '@sallyport/contract';
import { shownCode } from '@sallyport/server/testing/authenticator';
import { bearer, createGiven, PASSWORD } from '@sallyport/server/testing/given-accounts';
import { startApp, type TestApp } from '@sallyport/server/testing/start-app';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { barriersOf, type Look, shareBrowser, type TestBrowser } from '../support/browser.ts';
import { openSignedIn } from '../support/signed-in.ts';

let browser: TestBrowser;
let app: TestApp;
let given: ReturnType<typeof createGiven>;

beforeAll(async () => {
  [browser, app] = await Promise.all([shareBrowser(), startApp('sqlite')]);
  given = createGiven(app);
  await given.administrator();
});
afterAll(async () => {
  await browser?.stop();
  await app?.stop();
});

const open = (email: string, path = '/account', look?: Look) =>
  openSignedIn(browser, app.url, { email, path, ...(look ? { look } : {}) });

test('the second factor is set up by its key, asked for at sign-in, and a recovery code stands in for it', async () => {
  const { email } = await given.user('user');
  const { page, errors, close } = await open(email);
  await page.getByRole('button', { name: 'Set it up' }).click();
  await page.getByLabel('Your password').fill('not the password');
  await page.getByRole('button', { name: 'Continue' }).click();
  // The refusal is about a wrong password, and one is still signed in.
  await page
    .getByText(/password/i)
    .last()
    .waitFor();
  await page.getByLabel('Your password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
  expect(await barriersOf(page)).toEqual([]);
  const secret = await page.getByRole('textbox', { name: 'Key' }).inputValue();
  await page.getByLabel('Code that the app shows now').fill('000000');
  await page.getByRole('button', { name: 'Turn it on' }).click();
  await page
    .getByText(/^(code|Code|The code|Wrong|Invalid)/)
    .last()
    .waitFor();
  await page.getByLabel('Code that the app shows now').fill(shownCode(secret, new Date()));
  await page.getByRole('button', { name: 'Turn it on' }).click();
  const codes = page.getByRole('alert').filter({ hasText: 'Recovery codes' }).getByRole('listitem');
  await codes.first().waitFor();
  expect(await codes.count()).toBe(10);
  const recovery = (await codes.first().textContent()) ?? '';
  // Reading anew who one is takes nothing out of sight that is shown once.
  await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
  expect(await codes.count()).toBe(10);
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'I have kept them' }).click();
  await page.getByRole('button', { name: 'New recovery codes' }).waitFor();
  expect(errors).toEqual([]);
  await close();

  const again = await browser.open(app.url);
  await again.page.goto('/sign-in?next=/account');
  await again.page.getByLabel('E-mail address').fill(email);
  await again.page.getByLabel('Password', { exact: false }).first().fill(PASSWORD);
  await again.page.getByRole('button', { name: 'Sign in' }).click();
  const code = again.page.getByLabel('Code of the authenticator app');
  await code.waitFor();
  // It was not asked for before: that is no failure to be told of.
  expect(await again.page.getByRole('alert').count()).toBe(0);
  await code.fill('12345');
  await again.page.getByRole('button', { name: 'Sign in' }).click();
  await again.page.getByRole('alert').waitFor();
  await code.fill(recovery);
  await again.page.getByRole('button', { name: 'Sign in' }).click();
  await again.page.getByRole('heading', { name: 'Your account' }).waitFor();

  await again.page.getByRole('button', { name: 'Turn it off' }).click();
  await again.page.getByLabel('Your password').fill(PASSWORD);
  await again.page.getByRole('button', { name: 'Turn it off' }).click();
  await again.page.getByRole('button', { name: 'Set it up' }).waitFor();
  expect(again.errors).toEqual([]);
  await again.close();
});

test('a code of the app signs in', async () => {
  const caller = await given.caller();
  const clock = Date.now();
  const { body } = await app.send<TotpSecret>('POST', '/auth/totp/setup', { password: PASSWORD }, caller.headers);
  // A code counts once: the one of the next half minute, which is taken too, is left for the sign-in.
  const enabled = await app.send<RecoveryCodes>(
    'POST',
    '/auth/totp/enable',
    { code: shownCode(body.secret, new Date(clock)) },
    caller.headers,
  );
  expect(enabled.status).toBe(200);
  const { page, errors, close } = await browser.open(app.url);
  await page.goto('/sign-in');
  await page.getByLabel('E-mail address').fill(caller.user.email);
  await page.getByLabel('Password', { exact: false }).first().fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  const code = shownCode(body.secret, new Date(clock + 30_000));
  await page.getByLabel('Code of the authenticator app').fill(`${code.slice(0, 3)} ${code.slice(3)}`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Navigation' }).waitFor();
  expect(errors).toEqual([]);
  await close();
});

test('a password is changed; sessions elsewhere end, by it and one by one', async () => {
  const caller = await given.caller();
  const { email } = caller.user;
  const { page, errors, close } = await open(email);
  await app.send('POST', '/auth/login', { email, password: PASSWORD });
  await page.reload();
  await page.getByText('This one').waitFor();
  const ends = page.getByRole('button', { name: /^End the session of/ });
  await ends.first().waitFor();
  expect(await ends.count()).toBe(2);
  await ends.first().click();
  await page.getByText('The session has ended.').waitFor();
  await expect.poll(() => ends.count()).toBe(1);

  await page.getByLabel('Present password').fill('not the password');
  await page.getByLabel('New password').fill('short');
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText(/^new_password /).waitFor();
  await page.getByLabel('Present password').fill(PASSWORD);
  await page.getByLabel('New password').fill(`${PASSWORD} staple`);
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('The password is changed').waitFor();
  await expect.poll(() => ends.count()).toBe(0);
  expect((await app.send('GET', '/auth/me', undefined, bearer(caller.token))).status).toBe(401);
  expect(errors).toEqual([]);
  await close();
});

test('an administrator changes the own name', async () => {
  const { user } = await given.administrator();
  const { page, errors, close } = await open(user.email);
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Ada');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  await page.reload();
  await expect.poll(() => page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('Ada');
  expect(errors).toEqual([]);
  await close();
});

describe.each([
  { scheme: 'light', size: [1280, 800] },
  { scheme: 'dark', size: [360, 740] },
] as const)('$scheme, $size.0 wide', (look) => {
  test('the account has no barrier and does not scroll sideways', async () => {
    const { email } = await given.user('user');
    const { page, errors, close } = await open(email, '/account', look);
    await page.getByText('This one').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    expect(await barriersOf(page)).toEqual([]);
    expect(errors).toEqual([]);
    await close();
  });
});

test('who must set up the second factor first does that, sees nothing else, and is then where they went', async () => {
  const { user, headers } = await given.administrator();
  await app.send('POST', '/settings', { key: 'auth.require_totp', value: 'true' }, headers);
  const { page, errors, close } = await open(user.email, '/servers');
  await page.getByRole('heading', { name: 'Set up your second factor' }).waitFor();
  expect(await page.getByRole('navigation', { name: 'Navigation' }).count()).toBe(0);
  expect(await barriersOf(page)).toEqual([]);
  await page.getByLabel('Your password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Continue' }).click();
  const secret = await page.getByRole('textbox', { name: 'Key' }).inputValue();
  await page.getByLabel('Code that the app shows now').fill(shownCode(secret, new Date()));
  await page.getByRole('button', { name: 'Turn it on' }).click();
  await page.getByRole('button', { name: 'I have kept them' }).waitFor();
  // The service lets them in by now; the codes stay in sight until they were kept.
  await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
  await page.getByRole('button', { name: 'I have kept them' }).click();
  await page.getByRole('heading', { name: 'Remote servers' }).waitFor();
  expect(errors).toEqual([]);
  await close();
});
