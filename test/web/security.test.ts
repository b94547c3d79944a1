import { describe, expect, test } from 'vitest';
import { barriersOf, tooWideTables } from '../support/browser.ts';
import { startWeb } from '../support/web.ts';

const web = startWeb();
const { signedIn } = web;

const configOf = async () =>
  (await web.app.send<{ config: Record<string, unknown> | null }>('GET', '/security/config')).body.config;

test('the suite is switched on only by who can not lock themselves out, for a minute unless it is confirmed', async () => {
  const { page, errors, close } = await signedIn('/security');
  const suite = page.getByRole('region', { name: 'Security suite' });
  await suite.getByRole('button', { name: 'Switch the suite on' }).click();
  await suite.getByText('enabling could lock you out').waitFor();

  const lockOut = page.getByRole('region', { name: 'Never locked out' });
  await lockOut.getByLabel('Addresses and networks').fill('not an address');
  await lockOut.getByRole('button', { name: 'Save' }).click();
  await lockOut.getByText(/^admin_whitelist /).waitFor();
  await lockOut.getByLabel('Addresses and networks').fill('192.0.2.0/24');
  await lockOut.getByText('Your address is not in the list.').waitFor();
  await lockOut.getByRole('button', { name: 'Add my address' }).click();
  await lockOut.getByText('you can not lock yourself out').waitFor();
  // A network that one is in will do.
  await lockOut.getByLabel('Addresses and networks').fill('192.0.2.0/24, 126.0.0.0/7');
  await lockOut.getByText('you can not lock yourself out').waitFor();
  await lockOut.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  expect(await configOf()).toMatchObject({ admin_whitelist: expect.stringMatching(/192\.0\.2\.0\/24.*126\.0\.0\.0/) });

  await suite.getByRole('button', { name: 'Switch the suite on' }).click();
  await page.getByText(/takes itself back in \d+ seconds/).waitFor();
  // The countdown outlives a reload: the server counts.
  await page.reload();
  await page.getByText(/takes itself back in \d+ seconds/).waitFor();
  await page.getByRole('button', { name: 'keep the change' }).click();
  await page.getByText(/takes itself back in \d/).waitFor({ state: 'detached' });
  await suite.getByText('On', { exact: true }).waitFor();

  await suite.getByRole('button', { name: 'Switch the suite off' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Switch the suite off' }).click();
  await suite.getByRole('button', { name: 'Switch the suite on' }).waitFor();
  expect(errors).toEqual([]);
  await close();
});

test('a module is switched on and off, and says what that does', async () => {
  const { page, close } = await signedIn('/security');
  await page.getByText('Nobody looks at what requests contain.').waitFor();
  const waf = page.getByRole('switch', { name: 'Firewall: on or off' });
  await waf.click({ force: true });
  await page.getByText('Requests that look like an attack are refused').waitFor();
  expect((await web.app.send('GET', '/security/status')).body).toMatchObject({ waf: { enabled: true } });
  await waf.click({ force: true });
  await page.getByText('Nobody looks at what requests contain.').waitFor();
  await close();
});

test('the rate limit is told in words while it is typed, and saved; another change in between is not lost', async () => {
  const { page, close } = await signedIn('/security');
  const limit = page.getByRole('region', { name: 'Rate limit' });
  await limit.getByLabel('Requests').fill('1000');
  await limit.getByText('may make 1,000 requests in').waitFor();
  await web.app.send('POST', '/security/config', { rate_limit_burst: 7 });
  await limit.getByRole('button', { name: 'Save' }).click();
  const conflict = limit.getByRole('alert').filter({ hasText: 'This was changed in between' });
  await conflict.getByRole('button', { name: 'Keep mine' }).click();
  await limit.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  expect(await configOf()).toMatchObject({ rate_limit_requests: 1000, rate_limit_burst: 7 });
  await close();
});

test('what one saves oneself beside a form that is being typed in is no conflict', async () => {
  const { page, close } = await signedIn('/security');
  const limit = page.getByRole('region', { name: 'Rate limit' });
  const lockOut = page.getByRole('region', { name: 'Never locked out' });
  await limit.getByLabel('Requests').fill('2000');
  await lockOut.getByLabel('Addresses and networks').fill('192.0.2.0/25, 126.0.0.0/7');
  await lockOut.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  await limit.getByRole('button', { name: 'Save' }).click();
  await expect
    .poll(configOf)
    .toMatchObject({ rate_limit_requests: 2000, admin_whitelist: expect.stringMatching(/\/25/) });
  await close();
});

test('two forms of a page that are saved at once are both taken: what the other one changed is no conflict', async () => {
  const { page, close } = await signedIn('/security');
  const limit = page.getByRole('region', { name: 'Rate limit' });
  const lockOut = page.getByRole('region', { name: 'Never locked out' });
  await limit.getByLabel('Requests').fill('3000');
  await lockOut.getByLabel('Addresses and networks').fill('192.0.2.0/26, 126.0.0.0/7');
  // What the first one made of it is read after the second is sent.
  const sent = Promise.withResolvers<void>();
  await page.route('**/security/config', async (route) => {
    if (route.request().method() === 'GET') await sent.promise;
    await route.continue();
  });
  const isSave = (status: number) => (response: { status(): number; url(): string; request(): { method(): string } }) =>
    response.request().method() === 'POST' &&
    response.url().includes('/security/config') &&
    response.status() === status;
  const first = page.waitForResponse(isSave(200));
  await lockOut.getByRole('button', { name: 'Save' }).click();
  await first;
  const second = page.waitForResponse(isSave(412));
  await limit.getByRole('button', { name: 'Save' }).click();
  await second;
  sent.resolve();
  await expect
    .poll(configOf)
    .toMatchObject({ rate_limit_requests: 3000, admin_whitelist: expect.stringMatching(/\/26/) });
  expect(await page.getByText('This was changed in between').count()).toBe(0);
  await close();
});

test('saved over another one’s change, or after a form beside it, it goes over nothing that came even later', async () => {
  const { page, close } = await signedIn('/security');
  const limit = page.getByRole('region', { name: 'Rate limit' });
  const change = (body: object) => web.app.send('POST', '/security/config', body);
  await limit.getByLabel('Requests').fill('3100');
  // Both come while the form's change is on its way: another field, then, when that is known, its own.
  const inBetween = [{ admin_whitelist: '192.0.2.0/27' }, { rate_limit_requests: 4100 }, { rate_limit_requests: 4200 }];
  await page.route('**/security/config*', async (route) => {
    const next = route.request().method() === 'POST' ? inBetween.shift() : undefined;
    if (next) expect((await change(next)).status).toBe(200);
    await route.continue();
  });
  await limit.getByRole('button', { name: 'Save' }).click();
  const conflict = page.getByRole('alert').filter({ hasText: 'This was changed in between' });
  await conflict.getByText('4100').waitFor();
  await conflict.getByRole('button', { name: 'Keep mine' }).click();
  await limit.getByRole('button', { name: 'Save' }).click();
  await conflict.getByText('4200').waitFor();
  expect(await configOf()).toMatchObject({ rate_limit_requests: 4200 });
  await conflict.getByRole('button', { name: 'Keep mine' }).click();
  await limit.getByRole('button', { name: 'Save' }).click();
  await expect.poll(configOf).toMatchObject({ rate_limit_requests: 3100 });
  await close();
});

test('notifications: what is wrong is told at its field; what was sent is listed with what became of it', async () => {
  const { page, errors, close } = await signedIn('/security/notifications');
  const address = page.getByRole('textbox', { name: 'Address' });
  await address.fill('https://127.0.0.1/hook/s3cret');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/^Invalid webhook URL/).waitFor();
  expect(await address.getAttribute('aria-invalid')).toBe('true');
  await address.fill('');
  await page.getByRole('textbox', { name: 'Recipients' }).fill('ann@example.com');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Nothing was sent yet.').waitFor();
  await page.getByRole('button', { name: 'Send a test now' }).click();
  const sent = page.getByRole('row').filter({ hasText: 'Test' });
  await sent.getByText('Not delivered').waitFor();
  await sent.getByText('mail was not sent to 1 of 1 recipients').waitFor();
  await page.setViewportSize({ width: 360, height: 740 });
  await sent.getByText(/ · Mail$/).waitFor();
  expect(await tooWideTables(page)).toEqual([]);
  expect(errors).toEqual([]);
  await close();
});

test('a break-glass token is shown once', async () => {
  const { page, close } = await signedIn('/security');
  const glass = page.getByRole('region', { name: 'Break-glass token' });
  await glass.getByRole('button', { name: 'Make a token' }).click();
  await glass.getByText(/^[0-9a-f]{64}$/).waitFor();
  await page.reload();
  await glass.getByRole('button', { name: 'Make a token' }).waitFor();
  expect(await glass.getByText(/[0-9a-f]{64}/).count()).toBe(0);
  await close();
});

test('a standard user sees what acts, and nothing to change', async () => {
  const { page, errors, close } = await signedIn('/security', {}, 'user');
  await page.getByText('What it does').waitFor();
  expect(await page.getByRole('switch').count()).toBe(0);
  expect(await page.getByRole('button', { name: /Switch the suite|Save|Make a token/ }).count()).toBe(0);
  expect(errors).toEqual([]);
  await close();
});

describe.each([
  { scheme: 'light', size: [1280, 800] },
  { scheme: 'dark', size: [360, 740] },
] as const)('$scheme, $size.0 wide', (look) => {
  test('nothing is in the way of anybody', async () => {
    const { page, errors, close } = await signedIn('/security', look);
    await page.getByRole('region', { name: 'Rate limit' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    expect(await barriersOf(page)).toEqual([]);
    expect(errors).toEqual([]);
    await close();
  });
});
