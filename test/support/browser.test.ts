import { afterAll, beforeAll, expect, test } from 'vitest';
import { barriersOf, shareBrowser, type TestBrowser } from './browser.ts';

let browser: TestBrowser;
beforeAll(async () => {
  browser = await shareBrowser();
});
afterAll(() => browser?.stop());

const barriersIn = async (body: string): Promise<string[]> => {
  const { page, close } = await browser.open('http://127.0.0.1');
  await page.setContent(`<!doctype html><html lang="en"><title>A page</title><main>${body}</main></html>`);
  const found = await barriersOf(page);
  await close();
  return found;
};

test('what is in the way of somebody is found, all of it', async () => {
  expect(await barriersIn('<h1>Hosts</h1><label>Name <input></label>')).toEqual([]);
  const found = await barriersIn(
    '<h1>Hosts</h1><input id="one"><input id="two"><img src="data:,"><p style="color: #ccc">pale</p><button></button>',
  );
  expect(found.toSorted()).toEqual([
    'button-name: button',
    'color-contrast: p',
    'image-alt: img',
    'label: #one | #two',
  ]);
});
