import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { SignedIn } from '@sallyport/contract';
import { PASSWORD } from '@sallyport/server/testing/given-accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { barriersOf, type Look, shareBrowser, type TestBrowser } from '../support/browser.ts';
import { makeCertificate } from '../support/certificates.ts';
import { freePorts } from '../support/free-ports.ts';
import { makePkcs12, openPkcs12 } from '../support/pkcs12.ts';
import { createProduct, type Product } from '../support/product.ts';
import { type Pebble, startPebble } from '../support/start-pebble.ts';

const SOON = { timeout: 120_000 };
const EMAIL = 'admin@example.com';

let browser: TestBrowser;
let product: Product;
let pebble: Pebble;
/** Headers of who may change settings; nobody before `beforeAll` made one. */
let administrator: Record<string, string> = {};

const send = async (method: string, path: string, body?: object): Promise<Response> =>
  fetch(`${product.api}${path}`, {
    method,
    headers: { ...administrator, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });

beforeAll(async () => {
  const [api = 0, http = 0, https = 0] = await freePorts(3);
  product = createProduct({ api, http, https });
  [browser, pebble] = await Promise.all([
    shareBrowser(),
    startPebble({ httpPort: http, refusedNames: ['forbidden.example.test'] }),
    product.start(),
  ]);
  const made = await send('POST', '/setup', { email: EMAIL, password: PASSWORD });
  const { token } = (await made.json()) as SignedIn;
  administrator = { authorization: `Bearer ${token}` };
  for (const setting of pebble.settings) await send('POST', '/settings', setting);
}, 180_000);
afterAll(async () => {
  await browser?.stop();
  await product?.remove();
  await pebble?.stop();
});

const signedIn = async (path: string, look?: Look, email = EMAIL) => {
  const window = await browser.open(new URL(product.api).origin, look);
  await window.page.request.post('/api/v1/auth/login', { data: { email, password: PASSWORD } });
  await window.page.goto(path);
  return window;
};

test('an account is registered, a certificate is ordered with it and comes step by step, and is handed out', async () => {
  const { page, errors, close } = await signedIn('/certificates');
  await page.getByText('No certificate yet').waitFor(SOON);
  await page.getByRole('button', { name: 'Order a certificate' }).click();
  await page.getByText('There is no account with an authority yet').waitFor(SOON);
  await page.getByRole('link', { name: 'Add an account' }).click();
  await page.getByRole('combobox', { name: 'Authority' }).click();
  await page.getByRole('option', { name: 'Another one, by its address' }).click();
  await page.getByLabel('Address of its directory').fill(pebble.directoryUrl);
  await page.getByRole('textbox', { name: 'Name' }).fill('Pebble');
  await page.getByLabel('Root that its directory is verified with').fill(pebble.ca);
  await page.getByRole('button', { name: 'Save' }).click();
  // Refused at its field, with where the terms are.
  await page.getByText(/^terms_agreed must be true/).waitFor(SOON);
  await page.getByRole('checkbox', { name: 'I agree to the terms' }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'Pebble' }).waitFor(SOON);
  await page.getByRole('cell').getByText('Registered').waitFor();

  await page.getByRole('tab', { name: 'Certificates' }).click();
  await page.getByRole('button', { name: 'Order a certificate' }).click();
  await page.getByRole('combobox', { name: 'Names' }).fill('no name');
  await page.getByRole('combobox', { name: 'Names' }).press('Enter');
  await page.getByRole('button', { name: 'Order', exact: true }).click();
  await page.getByText(/^names\[?/).waitFor(SOON);
  await page.getByRole('combobox', { name: 'Names' }).press('Backspace');
  await page.getByRole('combobox', { name: 'Names' }).press('Backspace');
  // Nobody listens there: seen before the authority is asked, with what to do.
  await pebble.dns.setAddresses('away.example.test', ['127.0.0.9']);
  await page.getByRole('combobox', { name: 'Names' }).fill('away.example.test');
  await page.getByRole('combobox', { name: 'Names' }).press('Enter');
  await page.getByRole('button', { name: 'Order', exact: true }).click();
  await page
    .getByRole('listitem')
    .filter({ hasText: 'In the way' })
    .getByText(/connection refused/)
    .waitFor(SOON);
  await page.getByRole('button', { name: 'Order nevertheless' }).waitFor(SOON);
  await page.getByRole('combobox', { name: 'Names' }).press('Backspace');
  await page.getByRole('combobox', { name: 'Names' }).fill('shop.example.test');
  await page.getByRole('combobox', { name: 'Names' }).press('Enter');
  await page.getByRole('button', { name: 'Order', exact: true }).click();
  const drawer = page.getByRole('dialog', { name: 'shop.example.test', exact: true });
  // It is there: what can be handed out is offered.
  await drawer.getByRole('link', { name: 'Download', exact: true }).waitFor(SOON);
  await drawer.getByText('Stored').waitFor(SOON);
  await drawer.getByRole('button', { name: 'Renew now' }).waitFor();
  await drawer.getByRole('button', { name: 'Download with key' }).click();
  const question = page.getByRole('dialog', { name: 'Download with key' });
  await question.getByLabel('Your password').fill('wrong password');
  await question.getByRole('button', { name: 'Download' }).click();
  await question
    .getByText(/password/i)
    .first()
    .waitFor(SOON);
  await question.getByLabel('Your password').fill(PASSWORD);
  const [download] = await Promise.all([
    page.waitForEvent('download', SOON),
    question.getByRole('button', { name: 'Download' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/\.pem$/);
  await drawer.getByRole('button', { name: 'Download with key' }).click();
  await question.getByLabel('Your password').fill(PASSWORD);
  await question.getByRole('radio', { name: 'PKCS #12' }).check();
  await question.getByLabel('Password for the file').fill('for a Windows');
  const [bundle] = await Promise.all([
    page.waitForEvent('download', SOON),
    question.getByRole('button', { name: 'Download' }).click(),
  ]);
  expect(bundle.suggestedFilename()).toMatch(/\.p12$/);
  expect(openPkcs12(readFileSync(await bundle.path()), 'for a Windows')).toContain('PRIVATE KEY');

  // Revoked for good, and by whom it was asked for with the password; then ordered again by hand, as nobody needs it by itself.
  await drawer.getByRole('button', { name: 'Revoke' }).click();
  const revoking = page.getByRole('dialog', { name: 'Revoke shop.example.test?' });
  await revoking.getByText('for good').waitFor(SOON);
  expect(await barriersOf(page)).toEqual([]);
  await revoking.getByLabel('Your password').fill('wrong password');
  await revoking.getByLabel('Why').selectOption({ label: 'Nobody needs it any more' });
  await revoking.getByRole('button', { name: 'Revoke' }).click();
  await revoking
    .getByRole('alert')
    .getByText(/password/i)
    .waitFor(SOON);
  await revoking.getByLabel('Your password').fill(PASSWORD);
  await revoking.getByRole('button', { name: 'Revoke' }).click();
  await drawer.getByText('Revoked', { exact: true }).waitFor(SOON);
  await revoking.waitFor({ state: 'detached', ...SOON });
  expect(await drawer.getByRole('button', { name: 'Revoke' }).count()).toBe(0);
  await drawer.getByRole('button', { name: 'Try again now' }).click();
  await drawer.getByText('Stored').waitFor(SOON);
  await drawer.getByRole('button', { name: 'Revoke' }).waitFor(SOON);
  expect(errors).toEqual([]);
  await close();
}, 240_000);

test('what can not be had says why and when it is tried next', async () => {
  const answer = await send('POST', '/certificates/order', { names: ['forbidden.example.test'] });
  const { certificate } = (await answer.json()) as { certificate: { uuid: string } };
  const { page, errors, close } = await signedIn(`/certificates/${certificate.uuid}`);
  const trouble = page.getByRole('alert').filter({ hasText: 'What is wrong' });
  await trouble.getByText('In the words of the authority').waitFor(SOON);
  await trouble.getByText('Tried again').waitFor();
  await page.getByRole('button', { name: 'Try again now' }).waitFor();
  expect(errors).toEqual([]);
  await close();
}, 180_000);

test('files are taken as they come, each with what became of it; another one takes the place of one', async () => {
  const [first, second] = [makeCertificate(['files.example']), makeCertificate(['files.example'])];
  const windows = {
    name: 'windows.pfx',
    mimeType: 'application/x-pkcs12',
    buffer: makePkcs12(makeCertificate(['windows.example']), { password: 'of ours' }),
  };
  const { page, errors, close } = await signedIn('/certificates/upload');
  const files = (all: Record<string, string>) =>
    Object.entries(all).map(([name, text]) => ({
      name,
      mimeType: 'application/x-pem-file',
      buffer: Buffer.from(text),
    }));
  await page
    .locator('input[type=file]')
    .setInputFiles(files({ 'a.txt': first.certificate, 'b.bin': first.key, 'c.pem': second.key }));
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  await page.getByText('One certificate is new').waitFor(SOON);
  expect(await page.getByLabel('Password of the .pfx').count()).toBe(0);
  await page.getByText('Other half missing').waitFor();
  await page.getByRole('link', { name: 'Open' }).first().click();
  const drawer = page.getByRole('dialog', { name: 'files.example', exact: true });
  await drawer.getByText('Nobody renews it').waitFor(SOON);
  await drawer.getByRole('button', { name: 'Replace or rename' }).click();
  // A PKCS #12 takes its place, once its password is right.
  await drawer.locator('input[type=file]').first().setInputFiles(windows);
  await drawer.getByLabel('Password of the file').fill('wrong');
  await drawer.getByRole('button', { name: 'Save' }).click();
  await drawer.getByText('pkcs12_password is wrong').waitFor(SOON);
  await drawer.getByLabel('Password of the file').fill('of ours');
  await drawer.getByRole('textbox', { name: 'Name' }).fill('Renamed');
  await drawer.getByRole('button', { name: 'Save' }).click();
  const renamed = page.getByRole('dialog', { name: 'Renamed', exact: true });
  await renamed.getByText('windows.example').waitFor(SOON);
  await renamed.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog', { name: 'Delete Renamed?' }).getByRole('button', { name: 'Delete' }).click();
  await renamed.waitFor({ state: 'detached', ...SOON });
  expect(errors).toEqual([]);
  await close();
}, 180_000);

test('a dropped PKCS #12 asks for its password, and again when it is another one', async () => {
  const bytes = makePkcs12(makeCertificate(['dropped.example']), { password: 'of ours' }).toString('base64');
  const { page, errors, close } = await signedIn('/certificates/upload');
  const zone = page.getByRole('button', { name: 'Drop files here' });
  await zone.waitFor(SOON);
  const dropped = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    const bytes = Uint8Array.from(atob('${bytes}'), (one) => one.charCodeAt(0));
    transfer.items.add(new File([bytes], 'dropped.pfx'));
    return transfer;
  })()`);
  await zone.dispatchEvent('drop', { dataTransfer: dropped });
  const password = page.getByLabel('Password of the .pfx and .p12 files');
  await password.fill('another');
  await password.press('Enter');
  await page.getByText('Files whose password is missing or wrong stay here').waitFor(SOON);
  await page.getByText('it has another password').waitFor();
  expect(await password.inputValue()).toBe('');
  await password.fill('of ours');
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  await page.getByText('One certificate is new').waitFor(SOON);
  await page.getByText('for dropped.example').waitFor();
  expect(errors).toEqual([]);
  await close();
}, 180_000);

test('a DNS provider has the fields of its type, keeps its secrets, and is tried', async () => {
  const { page, errors, close } = await signedIn('/certificates/dns-providers/new');
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('hook');
  await page.getByRole('combobox', { name: 'Provider' }).fill('hook of your own');
  await page.getByRole('option', { name: 'HTTP hook of your own' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/^fields\.url /).waitFor(SOON);
  await page.getByLabel('Where {action, domain, name, value} is posted to').fill('http://127.0.0.1:9/');
  await page.getByLabel('Sent as Authorization: Bearer').fill('a-secret-of-mine');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'hook' }).click(SOON);
  expect(await page.getByPlaceholder('Is set; leave it empty to keep it').inputValue()).toBe('');
  const address = page.getByLabel('Where {action, domain, name, value} is posted to');
  await address.fill('http://127.0.0.1:10/');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/^fields\.bearer_token must be given anew/).waitFor(SOON);
  await address.fill('http://127.0.0.1:9/');
  await page.getByLabel('Name to prove').fill('example.test');
  await page.getByRole('button', { name: 'Try it' }).click();
  await page.getByRole('status').filter({ hasText: 'It does not work' }).waitFor(SOON);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog', { name: 'Delete hook?' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No DNS provider yet').waitFor(SOON);
  expect(errors).toEqual([]);
  await close();
}, 180_000);

test('the internal authority issues at once, its root is handed out, and another one takes its place', async () => {
  const { page, errors, close } = await signedIn('/certificates/order');
  await page.getByRole('combobox', { name: 'Names' }).fill('nas.home.arpa');
  await page.getByRole('radio', { name: 'The internal authority' }).check();
  await page.getByRole('button', { name: 'Order', exact: true }).click();
  const drawer = page.getByRole('dialog', { name: 'nas.home.arpa', exact: true });
  await drawer.getByText('Stored').waitFor(SOON);
  await drawer.getByRole('button', { name: 'Revoke' }).click();
  const revoking = page.getByRole('dialog', { name: 'Revoke nas.home.arpa?' });
  await revoking.getByText('The internal authority can not revoke').waitFor(SOON);
  expect(await revoking.getByRole('button', { name: 'Revoke' }).count()).toBe(0);

  await page.goto('/certificates/authority');
  const fingerprints = page.getByText(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
  await fingerprints.waitFor(SOON);
  const handedOut = async (name: string) => {
    const [download] = await Promise.all([
      page.waitForEvent('download', SOON),
      page.getByRole('link', { name }).click(),
    ]);
    const { fingerprint256 } = new X509Certificate(readFileSync(await download.path()));
    return [download.suggestedFilename(), fingerprint256];
  };
  const former = await fingerprints.textContent();
  expect(await handedOut('Download the root')).toEqual(['sallyport-root.pem', former]);

  const next = page.getByRole('region', { name: 'The next root' });
  const make = page.getByRole('button', { name: 'Make the next root' });
  const ask = async (button: string, title: string, told: string) => {
    await next.getByRole('button', { name: button }).click();
    const question = page.getByRole('dialog', { name: title });
    await question.getByText(told).waitFor(SOON);
    expect(await barriersOf(page)).toEqual([]);
    await question.getByRole('button', { name: button }).click();
    await next.waitFor({ state: 'detached', ...SOON });
  };
  await make.click();
  await next.waitFor(SOON);
  await ask('Give it up', 'Give up the next root?', 'all certificates stay as they are');
  expect(await fingerprints.textContent()).toBe(former);
  // Somebody else was faster: said, and what they made is shown.
  await send('POST', '/certificates/internal-ca/next');
  await make.click();
  await page.getByText('There is a next root already').waitFor(SOON);
  await next.waitFor(SOON);
  let nextPrint = (await next.getByText(/^([0-9A-F]{2}:){31}/).textContent()) ?? '';
  expect(await fingerprints.allTextContents()).toEqual([former, nextPrint]);
  expect(await handedOut('Download the next root')).toEqual(['sallyport-next-root.pem', nextPrint]);
  // Somebody else makes another one: it is not what is shown here, and does not take over.
  await send('POST', '/certificates/internal-ca/drop-next', { sha256: nextPrint });
  await send('POST', '/certificates/internal-ca/next');
  await next.getByRole('button', { name: 'Let it take over' }).click();
  const question = page.getByRole('dialog', { name: 'Let the next root take over?' });
  await question.getByRole('button', { name: 'Let it take over' }).click();
  await question.getByText('The next root is another one than you named').waitFor(SOON);
  await question.getByRole('button', { name: 'Cancel' }).click();
  expect(await fingerprints.first().textContent()).toBe(former);
  await expect.poll(() => next.getByText(/^([0-9A-F]{2}:){31}/).textContent(), SOON).not.toBe(nextPrint);
  nextPrint = (await next.getByText(/^([0-9A-F]{2}:){31}/).textContent()) ?? '';
  await ask('Let it take over', 'Let the next root take over?', 'do not trust it yet');
  expect(await fingerprints.textContent()).toBe(nextPrint);
  // Left for the looks at all screens.
  await make.click();
  await next.waitFor(SOON);

  // A standard user sees the root that devices are to trust, and nothing that changes it or hands out a key.
  const other = { email: 'user@example.com', password: PASSWORD };
  expect((await send('POST', '/users', { ...other, role: 'user' })).status).toBe(201);
  const { page: theirs, ...window } = await signedIn('/certificates/authority', undefined, other.email);
  await theirs.getByText(nextPrint).waitFor(SOON);
  await theirs.getByRole('link', { name: 'Download the root' }).waitFor(SOON);
  expect(await theirs.getByRole('region', { name: 'The next root' }).count()).toBe(0);
  expect(await theirs.getByText(/^([0-9A-F]{2}:){31}/).count()).toBe(1);
  const lacks = async (...names: string[]) => {
    for (const name of names) expect(await theirs.getByRole('button', { name }).count(), name).toBe(0);
  };
  await lacks('Make the next root', 'Let it take over', 'Give it up');
  await theirs.goto('/certificates');
  await theirs.getByText('nas.home.arpa').first().click(SOON);
  await theirs.getByRole('dialog', { name: 'nas.home.arpa', exact: true }).waitFor(SOON);
  await lacks('Order a certificate', 'Upload files', 'Revoke', 'Download with key', 'Replace or rename', 'Delete');
  expect(window.errors).toEqual([]);
  await window.close();
  expect(errors).toEqual([]);
  await close();
}, 180_000);

describe.each([
  { scheme: 'light', size: [1280, 800] },
  { scheme: 'dark', size: [360, 740] },
] as const)('$scheme, $size.0 wide', (look) => {
  test('no screen has a barrier or is wider than the window', async () => {
    const { page, errors, close } = await signedIn('/certificates', look);
    for (const path of ['', '/order', '/upload', '/accounts', '/accounts/new', '/dns-providers/new', '/authority']) {
      await page.goto(`/certificates${path}`);
      const isDrawer = /order|upload|new/.test(path);
      await (isDrawer ? page.getByRole('dialog') : page.getByRole('tablist')).waitFor(SOON);
      await page.waitForLoadState('networkidle');
      expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), path).toBe(true);
      expect(await barriersOf(page), path).toEqual([]);
    }
    await page.goto('/certificates');
    await page.getByRole('link', { name: 'forbidden.example.test' }).click(SOON);
    await page.getByText('In the words of the authority').waitFor(SOON);
    expect(await barriersOf(page)).toEqual([]);
    expect(errors).toEqual([]);
    await close();
  }, 240_000);
});
