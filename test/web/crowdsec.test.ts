import type { CrowdsecPreset, CrowdsecStatus } from '@sallyport/contract';
import { type Central, startCentral, TOKEN } from '@sallyport/server/testing/central-api';
import { startApp, type TestApp } from '@sallyport/server/testing/start-app';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { barriersOf, shareBrowser, type TestBrowser } from '../support/browser.ts';
import { freePort } from '../support/free-ports.ts';
import { createSignedIn } from '../support/signed-in.ts';
import { until } from '../support/until.ts';

/** As Debian's package has it. */
const INSTALLED = { daemon: '/usr/bin/crowdsec', cli: '/usr/bin/cscli', hub: '/usr/share/crowdsec/hub' };
const WITHIN_MS = 90_000;

let browser: TestBrowser;
let without: TestApp;
let app: TestApp;
let central: Central;
const onBare = createSignedIn(
  () => browser,
  () => without,
);
const signedIn = createSignedIn(
  () => browser,
  () => app,
);

beforeAll(async () => {
  const port = String(await freePort());
  central = await startCentral();
  [browser, without, app] = await Promise.all([
    shareBrowser(),
    startApp('sqlite'),
    startApp(
      'sqlite',
      { SALLYPORT_CROWDSEC_PORT: port, SALLYPORT_CROWDSEC_CONSOLE: central.url },
      { crowdsec: INSTALLED },
    ),
  ]);
});
afterAll(async () => {
  await browser?.stop();
  await app?.stop();
  await without?.stop();
  central?.stop();
});

const statusOf = async () => (await app.send<CrowdsecStatus>('GET', '/admin/crowdsec/status')).body;

test('where CrowdSec is missing, the way to it is shown, and what the console refuses stands there', async () => {
  const { page, errors, close } = await onBare('/crowdsec');
  await page.getByRole('heading', { name: 'CrowdSec is not installed' }).waitFor();
  await page.getByText('apt-get install --no-install-recommends crowdsec').waitFor();
  await page.getByRole('tab', { name: 'What it judges by' }).click();
  await page.getByRole('heading', { name: 'CrowdSec is not installed' }).waitFor();
  await page.getByRole('tab', { name: 'Console' }).click();
  await page.getByText('CrowdSec sends nothing to anybody').waitFor();
  await page.getByLabel('Enrolment key').fill('with blanks in it');
  await page.getByRole('button', { name: 'Enrol' }).click();
  await page.getByText(/^token /).waitFor();
  await page.getByLabel('Enrolment key').fill('abc');
  await page.getByRole('button', { name: 'Enrol' }).click();
  await page.getByRole('alert').filter({ hasText: 'CrowdSec is not installed' }).first().waitFor();
  // That it is not there is an answer.
  expect(errors.filter((text) => !text.includes('status of 503'))).toEqual([]);
  await close();
});

test('CrowdSec is started with what it is at, a preset is taken back and applied, and it is stopped', async () => {
  const { page, errors, close } = await signedIn('/crowdsec');
  await page.getByText('Does not run').waitFor();
  const seen = Promise.withResolvers<void>();
  await page.route('**/admin/crowdsec/start', async (route) => {
    await seen.promise;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByRole('list', { name: 'Starting CrowdSec' }).getByText('Its process runs').waitFor();
  seen.resolve();
  await page.getByRole('button', { name: 'Stop' }).waitFor({ timeout: WITHIN_MS });
  await page.getByText('Runs', { exact: true }).waitFor({ timeout: WITHIN_MS });
  await page.getByRole('row', { name: 'Local API' }).getByText('Answers').waitFor({ timeout: WITHIN_MS });
  const { pid } = await statusOf();
  await page.getByRole('row', { name: 'Process' }).getByText(String(pid)).waitFor({ timeout: WITHIN_MS });
  expect(await page.getByRole('link', { name: 'None yet' }).getAttribute('href')).toBe('/decisions?source=crowdsec');

  await page.getByRole('tab', { name: 'What it judges by' }).click();
  const name = 'crowdsecurity/http-probing';
  await page.getByRole('searchbox', { name: 'Search' }).fill(name);
  const row = page.getByRole('row', { name });
  await row.getByRole('button', { name: `Take back ${name}` }).click();
  await row.getByText('Taken back').waitFor({ timeout: WITHIN_MS });
  const stored = async () =>
    (
      await app.send<{ presets: CrowdsecPreset[] }>('GET', `/admin/crowdsec/presets?search=${name}&per_page=1000`)
    ).body.presets.find((preset) => preset.name === name)?.applied;
  expect(await stored()).toBe(false);
  await row.getByRole('button', { name: `Apply ${name}` }).click();
  await row.getByText('In force').waitFor({ timeout: WITHIN_MS });
  expect(await stored()).toBe(true);

  await page.getByRole('tab', { name: 'State' }).click();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('dialog', { name: 'Stop CrowdSec?' }).getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Does not run').waitFor({ timeout: WITHIN_MS });
  await until('it has ended', async () => (await statusOf()).status === 'stopped', WITHIN_MS);
  expect(errors).toEqual([]);
  await close();
});

test('CrowdSec is enrolled at its console with a key that it takes, and the enrolment is ended', async () => {
  const { page, errors, close } = await signedIn('/crowdsec/console');
  await page.getByText('Not enrolled').waitFor();
  await page.getByLabel('Enrolment key').fill('somebody-elses');
  await page.getByLabel('Name in the console').fill('edge 1');
  await page.getByLabel('Tags').fill('paris, edge');
  await page.getByRole('button', { name: 'Enrol' }).click();
  await page
    .getByRole('alert')
    .getByText(/^The console refuses the token/)
    .first()
    .waitFor();
  // What else was typed is still there.
  await page.getByLabel('Enrolment key').fill(` ${TOKEN} `);
  await page.getByRole('button', { name: 'Enrol' }).click();
  await page.getByText('Accept this machine in the console').waitFor();
  await page.getByText('Enrolled', { exact: true }).first().waitFor();
  await page.getByRole('row', { name: 'Name in the console edge 1' }).waitFor();
  await page.getByRole('row', { name: 'Tags paris, edge' }).waitFor();
  await page.getByText(`sends to ${central.url}: address, scenario and time of every alert`).waitFor();
  expect(central.asked.at(-1)?.body).toMatchObject({ attachment_key: TOKEN, name: 'edge 1', tags: ['paris', 'edge'] });
  expect(await barriersOf(page)).toEqual([]);

  await page.getByRole('button', { name: 'End the enrolment' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End the enrolment' }).click();
  await page.getByText('Not enrolled').waitFor();
  await page.getByText('CrowdSec sends nothing to anybody').waitFor();
  // A key is typed once.
  expect(await page.getByLabel('Enrolment key').inputValue()).toBe('');
  // That the console refused is an answer.
  expect(errors.filter((text) => !text.includes('status of 422'))).toEqual([]);
  await close();
});

describe.each([
  { scheme: 'light', size: [1280, 800], language: 'en' },
  { scheme: 'dark', size: [360, 740], language: 'de' },
] as const)('$scheme, $size.0 wide', (look) => {
  test('nothing is in the way of anybody', async () => {
    const open = async (signedInto: typeof signedIn, path: string, sign: RegExp) => {
      const { page, errors, close } = await signedInto(path, look);
      await page.getByText(sign).first().waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
      expect(await barriersOf(page)).toEqual([]);
      expect(errors).toEqual([]);
      await close();
    };
    await open(onBare, '/crowdsec', /systemctl disable/);
    await open(signedIn, '/crowdsec', /1\.4\.6/);
    await open(signedIn, '/crowdsec/presets', /crowdsecurity\//);
    await open(signedIn, '/crowdsec/console', /CrowdSec sends nothing|CrowdSec sendet niemandem/);
  });
});
