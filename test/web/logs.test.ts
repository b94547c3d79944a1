import { guardBlock, sendLines } from '@sallyport/server/testing/guard-line';
import { describe, expect, test } from 'vitest';
import { barriersOf } from '../support/browser.ts';
import { startWeb } from '../support/web.ts';

const web = startWeb();
const { signedIn } = web;

const tell = (...entries: object[]) => sendLines(web.app.dataDir, entries.map(guardBlock));

test('entries appear as they happen, are filtered, held back and explained', async () => {
  const { page, errors, close } = await signedIn('/logs');
  await page.getByText('Live', { exact: true }).waitFor();
  await tell({ reference: 'one', reason: 'first of all', host: 'a.example', ip: '192.0.2.1' });
  const log = page.getByRole('log');
  await log.getByText('first of all').waitFor();
  await tell({ reference: 'two', reason: 'the other', host: 'b.example', ip: '192.0.2.2' });
  await log.getByText('the other').waitFor();

  for (const [field, value] of [
    ['Host', 'B.EXAMPLE'],
    ['Address', '192.0.2.2'],
    ['Text', 'the other'],
  ] as const) {
    const box = page.getByRole('searchbox', { name: field, exact: true });
    await box.fill(value);
    await log.getByText('first of all').waitFor({ state: 'detached' });
    await log.getByText('the other').waitFor();
    await box.fill('');
    await log.getByText('first of all').waitFor();
  }
  await page.getByRole('combobox', { name: 'Source' }).selectOption('CrowdSec');
  await page.getByText('Nothing has happened yet').waitFor();
  await page.getByRole('combobox', { name: 'Source' }).selectOption('All sources');
  await log.getByText('first of all').waitFor();
  await page.getByRole('combobox', { name: 'Level' }).selectOption('Error');
  await page.getByText('Nothing has happened yet').waitFor();
  await page.getByRole('combobox', { name: 'Level' }).selectOption('Everything');
  await log.getByText('the other').waitFor();

  await page.getByRole('button', { name: 'Pause' }).click();
  await tell({ reference: 'three', reason: 'while it was held back' });
  await page.getByText('Paused: 1 entry waits').waitFor();
  expect(await log.getByText('while it was held back').count()).toBe(0);
  await page.getByRole('button', { name: 'Go on' }).click();
  await log.getByText('while it was held back').click();
  await page.getByRole('dialog').getByRole('link', { name: 'Explain this refusal' }).click();
  await page.waitForURL('**/blocks/three');
  expect(errors).toEqual([]);
  await close();
});

test('a thousand entries at once are shown at the newest, and no more than is in sight is in the page', async () => {
  const { page, close } = await signedIn('/logs');
  await page.getByText('Live', { exact: true }).waitFor();
  const many = Array.from({ length: 1_000 }, (_, index) => ({
    reference: `n${index}`,
    reason: `number ${index} of them`,
  }));
  await tell(...many);
  const log = page.getByRole('log');
  await log.getByText('number 999 of them').waitFor();
  expect(await log.getByRole('button').count()).toBeLessThan(100);
  // Who scrolls back is left there, until they want to follow again.
  await log.hover();
  await page.mouse.wheel(0, -20_000);
  const follow = page.getByRole('button', { name: 'Follow the newest' });
  await follow.waitFor();
  await tell({ reference: 'last', reason: 'the newest of all' });
  await follow.click();
  await log.getByText('the newest of all').waitFor();
  await close();
});

test('a connection that is lost is said to be, and taken up by itself with what came meanwhile', async () => {
  const { page, close } = await signedIn('/security');
  let isAway = false;
  let cut = async () => {};
  // Between the page and the real server: what a network does.
  await page.routeWebSocket(/logs\/live/, (connection) => {
    if (isAway) return void connection.close();
    connection.connectToServer();
    cut = () => connection.close();
  });
  await page.goto('/logs');
  await page.getByText('Live', { exact: true }).waitFor();
  isAway = true;
  await cut();
  await page.getByText('Connection lost').waitFor();
  await tell({ reference: 'meanwhile', reason: 'came meanwhile' });
  isAway = false;
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByRole('log').getByText('came meanwhile').waitFor();
  // What was read before comes along again, and is not shown twice.
  expect(await page.getByRole('log').getByText('the newest of all').count()).toBe(1);
  await close();
});

describe.each([
  { scheme: 'light', size: [1280, 800] },
  { scheme: 'dark', size: [360, 740] },
] as const)('$scheme, $size.0 wide', (look) => {
  test('whatever an entry says, nothing breaks and nothing is in the way', async () => {
    await tell({ reference: 'odd', reason: `<b>x</b>\u202e${'w'.repeat(900)}` });
    const { page, errors, close } = await signedIn('/logs', look, 'user');
    const odd = page.getByRole('log').getByText('<b>x').last();
    await odd.waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    expect(await barriersOf(page)).toEqual([]);
    await odd.click();
    await page.getByRole('dialog').getByText('<b>x').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    expect(errors).toEqual([]);
    await close();
  });
});
