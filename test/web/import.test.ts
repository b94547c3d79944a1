import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGiven } from '@sallyport/server/testing/given-accounts';
import { createGivenImports, type GivenImports, site } from '@sallyport/server/testing/given-imports';
import { startApp, type TestApp } from '@sallyport/server/testing/start-app';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { barriersOf, type Look, shareBrowser, type TestBrowser } from '../support/browser.ts';
import { freePort } from '../support/free-ports.ts';
import { openSignedIn } from '../support/signed-in.ts';

let browser: TestBrowser;
let app: TestApp;
let given: GivenImports;
let email: string;
let old: Server;

beforeAll(async () => {
  const env = { SALLYPORT_PROXY_HTTP: `127.0.0.1:${await freePort()}` };
  [browser, app] = await Promise.all([shareBrowser(), startApp('sqlite', env)]);
  email = (await createGiven(app).administrator()).user.email;
  given = createGivenImports(app);
  old = createServer((_, response) => response.end('old')).listen(0, '127.0.0.1');
});
afterAll(async () => {
  await browser?.stop();
  await app?.stop();
  old?.close();
});
afterEach(() => given.clear());

const open = (look?: Look) => openSignedIn(browser, app.url, { email, path: '/import', ...(look ? { look } : {}) });

test('a pasted Caddyfile becomes hosts: warnings at their lines, a choice for names that are taken, result, proof, and back', async () => {
  await given.host({ domain: 'a.example.com' });
  await given.host({ domain: 'b.example.com' });
  const { page, errors, close } = await open();
  const paste = page.getByLabel('Or paste a configuration');
  await paste.fill('a.example.com {\n\treverse_proxy "unclosed\n');
  await page.getByRole('button', { name: 'Look at it' }).click();
  const failed = page.getByRole('region', { name: 'Nothing was imported' });
  await failed.getByText('Caddyfile:2').waitFor();
  await failed.getByText('▸').first().waitFor();
  // Nothing that was typed is lost.
  expect(await paste.inputValue()).toContain('unclosed');
  await paste.fill(
    `${site('a.example.com', 3001)}${site('b.example.com', 3002)}c.example.com {\n\treverse_proxy 127.0.0.1:3003\n\tbasic_auth {\n\t\tx y\n\t}\n}\n${site('d.example.com', 3004)}`,
  );
  await page.getByRole('button', { name: 'Look at it' }).click();
  await page.getByRole('heading', { name: '4 hosts found' }).waitFor();
  await page.getByText('Caddyfile:9').first().waitFor();
  await page.locator('[aria-current=true]').filter({ hasText: 'basic_auth' }).first().waitFor();
  await page.getByRole('table', { name: 'What overwriting would change' }).first().waitFor();
  expect(await barriersOf(page)).toEqual([]);

  const commit = page.getByRole('button', { name: /^Import .*hosts?$/ });
  await page.getByText('Decide about 2 hosts').waitFor();
  expect(await commit.isDisabled()).toBe(true);
  await page.getByRole('radiogroup', { name: 'For all taken names' }).getByText('Keep mine').click();
  await page.getByRole('radiogroup', { name: 'What to do with a.example.com' }).getByText('Overwrite').click();
  await page.getByRole('radiogroup', { name: 'What to do with d.example.com' }).getByText('Leave out').click();
  await page.getByRole('button', { name: 'Import 2 hosts' }).click();
  await page.getByText('2 imported, 2 left out, 0 failed').waitFor();
  expect(await given.routes()).toEqual(['a.example.com 3001', 'b.example.com 9', 'c.example.com 3003']);

  const address = page.getByRole('textbox', { name: 'Address of the old proxy' });
  await address.fill('not an address');
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByText(/^old_address /).waitFor();
  await address.fill(`http://127.0.0.1:${(old.address() as AddressInfo).port}`);
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByText('0 of 2 names answer alike').waitFor();
  await page.getByRole('table', { name: 'a.example.com' }).getByText('nothing answers here').first().waitFor();
  expect(await barriersOf(page)).toEqual([]);

  await page.getByRole('button', { name: 'Take all of it back' }).click();
  await page.getByText('All of the import is taken back.').waitFor();
  expect(await given.routes()).toEqual(['a.example.com 9', 'b.example.com 9']);
  expect(errors).toEqual([]);
  await close();
});

test('several files are read together; what is under way is taken up after a reload, and can be discarded', async () => {
  const { page, errors, close } = await open({ scheme: 'dark', size: [360, 740] });
  const file = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  await page
    .locator('input[type=file]')
    .setInputFiles([file('sites.caddy', site('two.example.com', 3002)), file('Caddyfile', 'import sites.caddy\n')]);
  await page.getByRole('button', { name: 'Make Caddyfile the main file' }).click();
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Look at it' }).click();
  await page.getByRole('heading', { name: 'One host found' }).waitFor();
  await page.reload();
  await page.getByText('An import of Caddyfile from').waitFor();
  await page.getByText('two.example.com').first().waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Discard this import' }).click();
  await page.getByLabel('Or paste a configuration').waitFor();
  expect((await given.status()).body.has_pending).toBe(false);
  expect(errors).toEqual([]);
  await close();
});
