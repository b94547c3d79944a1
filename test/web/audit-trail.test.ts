import { readFile } from 'node:fs/promises';
import type { AuditEntry } from '@sallyport/contract';
import { createGiven } from '@sallyport/server/testing/given-accounts';
import { startApp, type TestApp } from '@sallyport/server/testing/start-app';
import { openDatabase } from '@sallyport/store/database/open';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { barriersOf, shareBrowser, type TestBrowser, tooWideTables } from '../support/browser.ts';
import { openSignedIn } from '../support/signed-in.ts';

let browser: TestBrowser;
let app: TestApp;
let email: string;

beforeAll(async () => {
  [browser, app] = await Promise.all([shareBrowser(), startApp('sqlite')]);
  const { user, headers } = await createGiven(app).administrator();
  email = user.email;
  for (let count = 0; count < 60; count += 1) {
    await app.send('POST', '/settings', { key: 'smtp.host', value: `mail-${count}.example` }, headers);
  }
  await app.send('POST', '/settings', { key: 'smtp.from', value: 'sallyport@example.com' }, headers);
});
afterAll(async () => {
  await browser?.stop();
  await app?.stop();
});

test('entries are searched, filtered, paged by the server, looked into and exported', async () => {
  const { page, errors, close } = await openSignedIn(browser, app.url, { email, path: '/audit' });
  const table = page.getByRole('table', { name: 'Audit trail' });
  await table.getByText('setting.set').first().waitFor();
  expect(await table.getByRole('button', { name: /^Details of/ }).count()).toBe(50);
  await page.getByRole('button', { name: '2', exact: true }).click();
  await table.getByText('setup').first().waitFor();
  expect(page.url()).toContain('page=2');

  await page.getByRole('searchbox', { name: 'Search' }).fill('smtp.from');
  await expect.poll(() => table.getByRole('button', { name: /^Details of/ }).count()).toBe(1);
  await table.getByRole('button', { name: /^Details of/ }).click();
  await table.getByRole('cell', { name: 'sallyport@example.com', exact: true }).waitFor();
  expect(await barriersOf(page)).toEqual([]);

  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  const entries = JSON.parse(await readFile(await (await saved).path(), 'utf8')) as AuditEntry[];
  expect(entries).toHaveLength(1);
  expect(entries[0]).toMatchObject({ action: 'setting.set', details: { after: { value: 'sallyport@example.com' } } });

  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await page.getByRole('textbox', { name: 'Action' }).fill('auth.login');
  await expect.poll(() => table.getByText('setting.set').count()).toBe(0);
  await page.getByLabel('Until').fill('2001-01-01T00:00');
  await page.getByText('No entry fits.').waitFor();
  expect(errors).toEqual([]);
  await close();
});

test('the chain is verified, and the entry that somebody changed is named', async () => {
  const look = { scheme: 'dark', size: [360, 740] } as const;
  const { page, errors, close } = await openSignedIn(browser, app.url, { email, path: '/audit', look });
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('all are as they were written').waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
  // Nothing has to be looked for to the right: who it was and what was changed stand below time and action.
  const region = page.getByRole('region', { name: 'Audit trail' });
  expect(await tooWideTables(page)).toEqual([]);
  const row = region.getByRole('row').filter({ hasText: 'setting.set' }).first();
  await row.getByText(email).filter({ visible: true }).waitFor();
  await row.getByText('settings/smtp.from').filter({ visible: true }).waitFor();
  await row.getByRole('button', { name: /^Details of/ }).click();
  await page.getByText('Address: 127.0.0.1').waitFor();
  expect(await barriersOf(page)).toEqual([]);
  const database = openDatabase(app.config);
  await database.kysely.updateTable('audit_logs').set({ actor: 'nobody' }).where('id', '=', 7).execute();
  await database.stop();
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByRole('alert').filter({ hasText: 'at entry 7: the entry was changed' }).waitFor();
  expect(errors).toEqual([]);
  await close();
});
