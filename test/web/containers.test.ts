import type { ProxyHost } from '@sallyport/contract';
import { startApp, type TestApp } from '@sallyport/server/testing/start-app';
import { recorded, startDocker, type TestSocket } from '@sallyport/server/testing/start-docker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { barriersOf, shareBrowser, type TestBrowser } from '../support/browser.ts';
import { createSignedIn } from '../support/signed-in.ts';

let browser: TestBrowser;
let docker: TestSocket;
let app: TestApp;

beforeAll(async () => {
  docker = await startDocker(recorded('docker'));
  [browser, app] = await Promise.all([shareBrowser(), startApp('sqlite', { SALLYPORT_DOCKER_SOCKET: docker.path })]);
});
afterAll(async () => {
  await browser?.stop();
  await app?.stop();
  await docker?.stop();
});
const signedIn = createSignedIn(
  () => browser,
  () => app,
);

test('a container that runs fills in the origin by one choice', async () => {
  const { page, errors, close } = await signedIn('/hosts/new');
  const container = page.getByRole('combobox', { name: 'Running container' });
  await page.getByRole('textbox', { name: 'Domain names' }).fill('shop.example.com');
  await container.click();
  await page.getByRole('option', { name: 'web · https://127.0.0.1:18443' }).click();
  expect(await page.getByRole('textbox', { name: 'Origin' }).inputValue()).toBe('127.0.0.1');
  expect(await page.getByRole('textbox', { name: 'Port' }).inputValue()).toBe('18443');
  expect(await container.inputValue()).toBe('web · https://127.0.0.1:18443');
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const { body } = await app.send<ProxyHost[]>('GET', '/proxy-hosts');
  expect(body).toMatchObject([
    { name: 'web', forward_scheme: 'https', forward_host: '127.0.0.1', forward_port: 18_443, remote_server_id: null },
  ]);
  expect(errors).toEqual([]);
  await close();
});

test('a standard user types the origin: Docker is not asked for them', async () => {
  const before = docker.accepted();
  const { page, errors, close } = await signedIn('/hosts/new', {}, 'user');
  await page.getByRole('textbox', { name: 'Origin' }).waitFor();
  await page.waitForLoadState('networkidle');
  expect(await page.getByRole('combobox', { name: 'Running container' }).count()).toBe(0);
  expect(docker.accepted()).toBe(before);
  expect(errors).toEqual([]);
  await close();
});

test('nothing is shown when Docker does not answer', async () => {
  await docker.stop();
  const { page, errors, close } = await signedIn('/hosts');
  const asked = page.waitForResponse('**/api/v1/containers');
  await page.getByRole('button', { name: 'Add a host' }).first().click();
  expect((await asked).status()).toBe(503);
  await page.getByRole('textbox', { name: 'Origin' }).waitFor();
  expect(await page.getByRole('combobox', { name: 'Running container' }).count()).toBe(0);
  expect(errors).toEqual([]);
  await close();
});
