import { join } from 'node:path';
import type { ProxyHost } from '@sallyport/contract';
import { createGiven, PASSWORD } from '@sallyport/server/testing/given-accounts';
import { startApp, type TestApp } from '@sallyport/server/testing/start-app';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { barriersOf, type Look, shareBrowser, type TestBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';

let browser: TestBrowser;
let app: TestApp;
let email: string;

beforeAll(async () => {
  [browser, app] = await Promise.all([shareBrowser(), startApp('sqlite')]);
  email = (await createGiven(app).administrator()).user.email;
});
afterAll(async () => {
  await browser?.stop();
  await app?.stop();
});

const signedIn = async (path: string, look?: Look) => {
  const window = await browser.open(app.url, look);
  await window.page.request.post('/api/v1/auth/login', { data: { email, password: PASSWORD } });
  await window.page.goto(path);
  return window;
};

test('a backup is made, verified, seen through, restored, downloaded, uploaded again and deleted', async () => {
  const { page, errors, close } = await signedIn('/backups');
  const dialog = (name: string) => page.getByRole('dialog', { name });
  await page.getByText('No backup yet').waitFor();
  await page.getByRole('button', { name: 'Make a backup' }).first().click();
  await dialog('Make a backup').getByLabel('Passphrase').fill('short');
  await page.getByRole('button', { name: 'Make it now' }).click();
  await page.getByText(/^passphrase /).waitFor();
  await dialog('Make a backup').getByLabel('Passphrase').fill('four words and more');
  await page.getByRole('button', { name: 'Make it now' }).click();
  await page.getByRole('cell').getByText('Read back').waitFor();

  await page.request.post('/api/v1/remote-servers', { data: { name: 'later', host: '127.0.0.1', port: 1 } });
  await page.getByRole('button', { name: /^What to do with/ }).click();
  await page.getByRole('menuitem', { name: 'Restore' }).click();
  await page.getByRole('button', { name: 'See what would change' }).click();
  await dialog('Restore').getByRole('alert').waitFor();
  await dialog('Restore').getByLabel('Passphrase').fill('four words and more');
  await page.getByRole('button', { name: 'See what would change' }).click();
  await page.getByRole('row', { name: 'remote servers 0 0 1' }).waitFor();
  await page.getByRole('button', { name: 'Restore it' }).click();
  // Escape closes the question, and not what it is about.
  await dialog('Put everything back to this backup?').waitFor();
  await page.keyboard.press('Escape');
  await dialog('Put everything back to this backup?').waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Restore it' }).click();
  await dialog('Put everything back to this backup?').getByRole('button', { name: 'Restore it' }).click();
  await page.getByText('Everything is as in the backup').waitFor();
  await dialog('Restore').getByRole('button', { name: 'Close' }).click();
  // What was there before was backed up.
  await page.getByRole('cell', { name: 'before-restore' }).waitFor();

  const encrypted = page.getByRole('row').filter({ hasText: 'its passphrase' });
  await encrypted.getByRole('button', { name: /^What to do with/ }).click();
  await page.getByRole('menuitem', { name: 'Verify' }).click();
  await dialog('Verify').getByLabel('Passphrase').fill('four other words');
  await dialog('Verify').getByRole('button', { name: 'Verify' }).click();
  await dialog('Verify').getByRole('alert').waitFor();
  await dialog('Verify').getByLabel('Passphrase').fill('four words and more');
  await dialog('Verify').getByRole('button', { name: 'Verify' }).click();
  await page.getByText('was read from end to end').waitFor();
  await dialog('Verify').waitFor({ state: 'detached' });
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    encrypted.getByRole('link', { name: /^Download/ }).click(),
  ]);
  const file = await download.path();
  const name = download.suggestedFilename();
  await encrypted.getByRole('button', { name: /^What to do with/ }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await dialog('Delete this backup?').getByRole('button', { name: 'Delete' }).click();
  await encrypted.waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'Upload a backup' }).click();
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    dialog('Upload a backup').getByRole('button', { name: 'File', exact: true }).click(),
  ]);
  await chooser.setFiles({ name, mimeType: 'application/octet-stream', buffer: Buffer.from('this is no backup') });
  await page.getByRole('button', { name: 'Upload it' }).click();
  await dialog('Upload a backup')
    .getByText(/^file:? /)
    .waitFor();
  const [again] = await Promise.all([
    page.waitForEvent('filechooser'),
    dialog('Upload a backup').getByRole('button', { name: 'File', exact: true }).click(),
  ]);
  await again.setFiles(file);
  await dialog('Upload a backup').getByLabel('Passphrase').fill('four words and more');
  await page.getByRole('button', { name: 'Upload it' }).click();
  await page.getByRole('cell', { name: 'Uploaded', exact: true }).waitFor();
  await page.getByRole('row').filter({ hasText: 'Uploaded' }).getByText('Read back').waitFor();
  expect(errors).toEqual([]);
  await close();
});

test('a drill tells what is in place and what to do about the rest', async () => {
  const { page, errors, close } = await signedIn('/emergency');
  // Of this instance, wherever it is: what is typed off the screen, or off paper, must be what counts.
  const line = (text: string) => page.getByText(text).waitFor();
  await line(`echo "SALLYPORT_EMERGENCY_TOKEN=$(openssl rand -hex 32)" >> ${app.dataDir}/.env`);
  await line(`${join(import.meta.dirname, '../../bin/sallyport')} emergency reset`);
  await page.getByRole('button', { name: 'Make a drill' }).click();
  await page.getByText(/things are not in place/).waitFor();
  const check = (name: string) => page.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) });
  await check('Emergency token').getByText('Missing').waitFor();
  await check('Store').getByText('In place').waitFor();
  // A second one at once is refused, and that is said.
  await page.getByRole('button', { name: 'Make a drill' }).click();
  await page.getByRole('alert').waitFor();
  expect(errors).toEqual([]);
  await close();
});

test('settings are stored one by one, say what is wrong with them, and go back to their defaults', async () => {
  const { page, errors, close } = await signedIn('/settings#backup.keep');
  const keep = page.getByLabel('backup.keep', { exact: true });
  await keep.waitFor();
  await keep.fill('none');
  await page.getByRole('button', { name: 'Save' }).click();
  await page
    .getByText(/backup\.keep|value/)
    .filter({ hasText: /integer|whole|number|between/ })
    .first()
    .waitFor();
  await keep.fill('7');
  // Another one is faster: both versions are told, and saving once more goes over theirs, also before all has been read anew.
  await page.request.post('/api/v1/settings', { data: { key: 'backup.keep', value: '30' } });
  const { promise: isSaved, resolve: readOn } = Promise.withResolvers<void>();
  await page.route('**/api/v1/settings/backup.keep', async (route) => {
    await isSaved;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Theirs: “30”. Yours: “7”.').waitFor();
  const second = page.waitForResponse(
    (answer) => answer.url().endsWith('/settings') && answer.request().method() === 'POST',
  );
  await page.getByRole('button', { name: 'Save' }).click();
  expect((await second).status()).toBe(200);
  readOn();
  await page.getByText('backup.keep is stored').waitFor();
  // The version is the one that typing began with, though all is read anew behind it when another setting is stored.
  const readOf = (key: string) => page.waitForResponse((answer) => answer.url().endsWith(`/settings/${key}`));
  const saveOf = (key: string) => page.locator(`[id="${key}"]`).getByRole('button', { name: 'Save' });
  const begun = readOf('smtp.username');
  const username = page.getByLabel('smtp.username', { exact: true });
  await username.fill('ada');
  await begun;
  await page.request.post('/api/v1/settings', { data: { key: 'smtp.username', value: 'bob' } });
  const again = readOf('smtp.username');
  await page.getByLabel('smtp.port', { exact: true }).fill('25');
  await saveOf('smtp.port').click();
  await again;
  await page.getByText('smtp.port is stored').waitFor();
  await saveOf('smtp.username').click();
  await page.getByText('Theirs: “bob”. Yours: “ada”.').waitFor();
  // Elsewhere it would be lost: leaving is asked about, and the answer counts.
  const answers = [false, true];
  page.on('dialog', (asked) => void (answers.shift() ? asked.accept() : asked.dismiss()));
  await page.getByRole('link', { name: 'About' }).click();
  await until('it was asked', () => answers.length === 1);
  expect(await username.inputValue()).toBe('ada');
  await page.getByRole('link', { name: 'About' }).click();
  await page.getByRole('heading', { name: 'About', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'Settings' }).click();
  await keep.waitFor();
  await page.getByRole('button', { name: 'Back to the default of backup.keep' }).click();
  await page.getByText('backup.keep is back to its default').waitFor();
  expect(await keep.inputValue()).toBe('14');

  const url = page.getByLabel('app.public_url', { exact: true });
  await url.fill('ftp://example.com');
  await page.getByRole('button', { name: 'Check the URL' }).click();
  await page.getByRole('status').filter({ hasText: /http/ }).first().waitFor();
  await url.fill('https://proxy.example.com/');
  await page.getByRole('button', { name: 'Check the URL' }).click();
  await page.getByText('It will be https://proxy.example.com').waitFor();

  const secret = page.getByLabel('smtp.password', { exact: true });
  await secret.fill('hunter2hunter2');
  await page.getByRole('button', { name: 'Save' }).last().click();
  await page.getByText('smtp.password is stored').waitFor();
  expect(await secret.inputValue()).toBe('');
  // There is no mail server: the answer says so beside the button.
  await page.getByRole('button', { name: 'Send' }).click();
  await page
    .getByText(/smtp\.host|mail server/)
    .last()
    .waitFor();
  expect(errors).toEqual([]);
  await close();
});

test('a change is shown with what was before, and taken back; what is in the way is told', async () => {
  const { page, errors, close } = await signedIn('/history');
  const post = (path: string, data: object) => page.request.post(`/api/v1${path}`, { data });
  const made = await post('/remote-servers', { name: 'box', host: '127.0.0.1', port: 1 });
  const { uuid } = (await made.json()) as { uuid: string };
  for (const port of [2, 3]) await page.request.put(`/api/v1/remote-servers/${uuid}`, { data: { port } });
  await page.goto(`/history?resource=remote-servers/${uuid}`);
  const changes = page.getByRole('article');
  await changes.nth(2).waitFor();
  await changes.first().getByRole('button', { name: 'Details' }).click();
  await changes.first().getByRole('row', { name: 'port 2 3' }).waitFor();
  // The first change of the port was followed by another one.
  await changes.nth(1).getByRole('button', { name: 'Take back' }).click();
  await changes.nth(1).getByRole('alert').waitFor();
  await changes.first().getByRole('button', { name: 'Take back' }).click();
  await page.getByText(/took back change/).waitFor();
  const { body } = await app.send<{ port: number }>('GET', `/remote-servers/${uuid}`);
  expect(body.port).toBe(2);
  expect(errors).toEqual([]);
  await close();
});

/** Of these hosts, those with HSTS. */
const secured = async (uuids: readonly string[]): Promise<ProxyHost[]> => {
  const { body } = await app.send<ProxyHost[]>('GET', '/proxy-hosts?per_page=1000');
  return body.filter(({ uuid, hsts_enabled }) => uuids.includes(uuid) && hsts_enabled);
};

test('what one request changed is told as a whole, though only a part of it is on the page', async () => {
  const uuids: string[] = [];
  for (let n = 0; n < 52; n++) {
    const host = { domain: `batch-${n}.example.com`, forward_host: '127.0.0.1', forward_port: 1 };
    uuids.push((await app.send<{ uuid: string }>('POST', '/proxy-hosts', host)).body.uuid);
  }
  await app.send('POST', '/proxy-hosts/bulk', { uuids: uuids.slice(0, 51), patch: { hsts_enabled: true } });
  const { page, errors, close } = await signedIn('/history');
  const whole = page.getByRole('article').first();
  await whole.getByText('50 of 51 in one request').waitFor();
  expect(await whole.getByRole('button', { name: /^Take only/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'Page 2' }).click();
  const rest = page.getByRole('article').filter({ hasText: '1 of 51 in one request' });
  await rest.getByRole('button', { name: 'Take only this back' }).click();
  await expect.poll(async () => (await secured(uuids)).length).toBe(50);
  expect(errors).toEqual([]);
  await close();
});

test('what it is made of, and under which licences', async () => {
  const { page, errors, close } = await signedIn('/about');
  // By name, wherever a package lies.
  const names = async () =>
    (await page.getByRole('row').locator('td:first-child, [role=cell]:first-child').allInnerTexts()).slice(0, 12);
  await expect.poll(async () => (await names()).length).toBe(12);
  const shown = await names();
  expect(shown).toEqual(shown.toSorted((one, other) => one.localeCompare(other, 'en')));
  await page.getByRole('searchbox', { name: 'Search' }).fill('fastify 5');
  await page.getByRole('row', { name: /^fastify 5.* MIT$/ }).waitFor();
  await page.getByText(/^Node\.js v?\d+/).waitFor();
  expect(await page.getByRole('link', { name: /described to read/ }).getAttribute('href')).toBe('/api/docs');
  expect(errors).toEqual([]);
  await close();
});

const LOOKS = [
  { scheme: 'light', size: [1280, 800], language: 'en' },
  { scheme: 'dark', size: [360, 740], language: 'de' },
] as const;
const PATHS = ['/backups', '/backups/new', '/emergency', '/settings', '/history', '/about'];

describe.each(LOOKS)('$scheme, $size.0 wide', (look) => {
  test('nothing is in the way of anybody', async () => {
    // One window: each new one would fetch the interface anew.
    const { page, errors, close } = await signedIn('/about', look);
    for (const path of PATHS) {
      await page.goto(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), path).toBe(true);
      expect(await barriersOf(page), path).toEqual([]);
      if (path === '/settings') {
        const said = look.language === 'de' ? 'Hauptschalter des Schutzes' : 'Master switch of the security suite';
        expect(await page.getByText(said).count()).toBe(1);
      }
    }
    expect(errors).toEqual([]);
    await close();
  });
});
