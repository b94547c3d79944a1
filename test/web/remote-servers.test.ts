import { createServer } from 'node:net';
import { createGiven, PASSWORD } from '@sallyport/server/testing/given-accounts';
import { startApp, type TestApp } from '@sallyport/server/testing/start-app';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { barriersOf, type Look, shareBrowser, type TestBrowser } from '../support/browser.ts';

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

test('a server is added, tested, changed and deleted', async () => {
  const listener = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => listener.once('listening', resolve));
  const { port } = listener.address() as { port: number };
  const { page, errors, close } = await signedIn('/servers');
  await page.getByText('No remote server yet').waitFor();
  await page.getByRole('button', { name: 'Add a server' }).first().click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('nas');
  await page.getByLabel('Host name or address').fill('no such name!');
  await page.getByRole('textbox', { name: 'Port' }).fill(String(port));
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/^host /).waitFor();
  await page.getByLabel('Host name or address').fill('127.0.0.1');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'nas' }).waitFor();
  await page.getByRole('button', { name: 'Test the connection to nas' }).click();
  await page.getByText(`127.0.0.1:${port} takes connections`).waitFor();
  await page.getByRole('cell').getByText('Answers').waitFor();
  listener.close();

  await page.getByRole('link', { name: 'nas' }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('storage');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'storage' }).click();
  // Escape is the question's, and then the form's, which asks about what was typed.
  let asked = 0;
  page.on('dialog', (question) => {
    asked += 1;
    void question.accept();
  });
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('never saved');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog', { name: 'Delete storage?' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Delete storage?' }).waitFor({ state: 'detached' });
  expect(asked).toBe(0);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Delete' }).waitFor({ state: 'detached' });
  expect(asked).toBe(1);
  await page.getByRole('link', { name: 'storage' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog', { name: 'Delete storage?' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No remote server yet').waitFor();
  expect(errors).toEqual([]);
  await close();
});

test("another administrator's change in between is shown beside one's own, and nothing typed is lost", async () => {
  const { body } = await app.send<{ uuid: string }>('POST', '/remote-servers', {
    name: 'a',
    host: '127.0.0.1',
    port: 1,
  });
  const { page, close } = await signedIn(`/servers/${body.uuid}`);
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('mine');
  await app.send('PUT', `/remote-servers/${body.uuid}`, { name: 'theirs', port: 2 });
  await page.getByRole('button', { name: 'Save' }).click();
  const conflict = page.getByRole('alert').filter({ hasText: 'This was changed in between' });
  await conflict.getByRole('cell', { name: 'theirs' }).waitFor();
  await conflict.getByRole('button', { name: 'Keep mine' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'mine' }).waitFor();
  // What was not touched here is theirs.
  const { body: now } = await app.send('GET', `/remote-servers/${body.uuid}`);
  expect(now).toMatchObject({ name: 'mine', port: 2 });
  await close();
});

test('a form begins with what is there now, and stays when it can not be read again', async () => {
  const { body } = await app.send<{ uuid: string }>('POST', '/remote-servers', { name: 'q', host: '::1', port: 1 });
  const { page, close } = await signedIn(`/servers/${body.uuid}`);
  const port = page.getByRole('textbox', { name: 'Port' });
  await port.waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await app.send('PUT', `/remote-servers/${body.uuid}`, { port: 2 });
  await page.getByRole('link', { name: 'q', exact: true }).click();
  await port.waitFor();
  expect(await port.inputValue()).toBe('2');

  await port.fill('3');
  await page.route(`**/remote-servers/${body.uuid}`, (route) =>
    route.request().method() === 'GET' ? route.fulfill({ status: 500, json: { error: 'gone' } }) : route.continue(),
  );
  const failed = page.waitForResponse((response) => response.status() === 500);
  await page.clock.install();
  await page.clock.fastForward(60_000);
  await page.evaluate('document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))');
  await failed;
  await page.clock.resume();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect((await app.send('GET', `/remote-servers/${body.uuid}`)).body).toMatchObject({ port: 3 });
  await close();
});

describe.each([
  { scheme: 'light', size: [1280, 800] },
  { scheme: 'dark', size: [360, 740] },
] as const)('$scheme, $size.0 wide', (look) => {
  test('names that are made to break it do not', async () => {
    await app.send('GET', '/remote-servers').then(async ({ body: all }) => {
      for (const { uuid } of all as { uuid: string }[]) await app.send('DELETE', `/remote-servers/${uuid}`);
    });
    const name = `<b>x</b>\u202egnp.${'w'.repeat(200)}`;
    const { body } = await app.send<{ uuid: string }>('POST', '/remote-servers', { name, host: '127.0.0.1', port: 1 });
    const { page, errors, close } = await signedIn('/servers', look);
    await page.getByRole('link', { name: '<b>x</b>' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    expect(await barriersOf(page)).toEqual([]);
    await page.goto(`/servers/${body.uuid}`);
    await page.getByRole('textbox', { name: 'Name', exact: true }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    expect(errors).toEqual([]);
    await app.send('DELETE', `/remote-servers/${body.uuid}`);
    await close();
  });
});
