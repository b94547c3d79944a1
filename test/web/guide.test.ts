import { expect, test } from 'vitest';
import { barriersOf } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { startWeb } from '../support/web.ts';

const web = startWeb();
const { signedIn } = web;

test('each screen leads to the page that tells of it, and the page names the screen and leads back', async () => {
  const { page, errors, close } = await signedIn('/about');
  const links = page.getByRole('navigation', { name: 'Navigation' }).getByRole('link');
  await links.first().waitFor();
  const names = await links.allTextContents();
  expect(names.length).toBeGreaterThan(15);
  for (const name of names) {
    const link = links.filter({ hasText: new RegExp(`^${name}$`) });
    await link.click();
    // The screen is fetched first: until then this one is still the one before.
    await link.and(page.locator('[aria-current=page]')).waitFor();
    await page.getByRole('link', { name: 'The guide to this screen' }).click();
    await page.waitForURL('**/guide/**');
    const said = page.getByText(/^In the web interface:/).filter({ hasText: name });
    await said.waitFor();
    await page.getByRole('main').getByRole('link', { name, exact: true }).waitFor();
    const { hash } = new URL(page.url());
    if (hash !== '') expect(await page.locator(`h2${hash}`).count(), hash).toBe(1);
  }
  expect(errors).toEqual([]);
  await close();
});

test('all pages are on one, by the part of the navigation that they tell of', async () => {
  const { page, close } = await signedIn('/guide');
  const section = (name: string) =>
    page.locator('section').filter({ has: page.getByRole('heading', { level: 2, name, exact: true }) });
  for (const [name, link] of [
    ['Traffic', 'Proxy hosts'],
    ['Protection', 'The security suite'],
    ['System', 'Getting back in'],
    ['Besides', 'Limits'],
  ] as const)
    await section(name).getByRole('link', { name: link, exact: true }).waitFor();
  const links = await page.locator('main a[href^="/guide/"]').evaluateAll((all) => all.map((one) => String(one)));
  expect(new Set(links).size).toBe(links.length);
  expect(links.length).toBeGreaterThan(15);
  await close();
});

test('a page can be read in the dark and on a telephone, and its links lead on', async () => {
  const { page, errors, close } = await signedIn('/guide/security', { scheme: 'dark', size: [360, 740] });
  await page.getByRole('heading', { level: 2, name: 'Access lists' }).waitFor();
  const picture = page.getByRole('img', { name: /^The explanation of a refused request/ });
  await picture.scrollIntoViewIfNeeded();
  const isThere = "[...document.images].some((image) => image.src.includes('/block-') && image.naturalWidth > 0)";
  await until('the picture is there', () => page.evaluate<boolean>(isThere));
  expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole('main').getByRole('link', { name: 'drill' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Getting back in' }).waitFor();
  await page.evaluate("localStorage.setItem('sallyport.language', 'de')");
  await page.goto('/guide/security#notifications');
  await page.locator('[lang=de] h2#notifications').getByText('Benachrichtigungen').waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole('main').getByRole('link', { name: 'Übung' }).click();
  await page.getByRole('heading', { level: 1, name: 'Zurück hineinkommen' }).waitFor();
  await page
    .locator(`h2${new URL(page.url()).hash}`)
    .getByText('Übung')
    .waitFor();
  await page.goto('/guide/limits');
  await page.locator('h1[lang=en]').waitFor();
  await page.getByText('Diese Seite gibt es nur auf Englisch.').waitFor();
  await page.evaluate("localStorage.setItem('sallyport.language', 'en')");
  await page.goto('/guide/nothing');
  await page.getByText('There is nothing here').waitFor();
  expect(errors).toEqual([]);
  await close();
});

test('a part that a newer version no longer has is said to be missing, with a way on, and takes no other screen away', async () => {
  const { page, close } = await signedIn('/about');
  const link = page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: 'History' });
  await link.waitFor();
  await page.route('**/assets/history-*.js', (route) => route.fulfill({ status: 404, body: 'Not Found' }));
  await link.click();
  await page.getByRole('heading', { name: 'A part of the interface is missing' }).waitFor();
  await link.waitFor();
  await page.unroute('**/assets/history-*.js');
  await page.getByRole('button', { name: 'Load the page anew' }).click();
  await page.getByRole('heading', { level: 1, name: 'History' }).waitFor();
  await close();
});
