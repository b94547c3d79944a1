import type { ProxyHost, Ruleset, SecurityConfig } from '@sallyport/contract';
import { describe, expect, test } from 'vitest';
import { barriersOf, tooWideTables } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { startWeb } from '../support/web.ts';

const web = startWeb();
const { signedIn } = web;

const configOf = async () =>
  (await web.app.send<{ config: SecurityConfig | null }>('GET', '/security/config')).body.config;
const rulesetsOf = async () => (await web.app.send<{ rulesets: Ruleset[] }>('GET', '/security/rulesets')).body.rulesets;

/** A request for evil is refused. */
const RULE = 'SecRule ARGS "@contains evil" "id:100001,phase:2,deny"';
const WITHIN_MS = 60_000;

test('how it judges is said in words and saved; a refusal stands at its field, and another change in between is not lost', async () => {
  const { page, errors, close } = await signedIn('/firewall');
  await page.getByText('Nobody looks at what requests contain.').waitFor();
  await page.getByRole('radio', { name: 'It is let through, and reported' }).check();
  await page.getByRole('radio', { name: '2: also what is usual in few applications' }).check();
  await page.getByText('One critical find is enough').waitFor();
  await page.getByLabel('How much has to be found').fill('15');
  await page.getByText('It takes 3 critical finds').waitFor();
  await page.getByRole('button', { name: 'What a request may be' }).click();
  await page.getByLabel('Methods').fill('GET, no method');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/^waf_allowed_methods: /).waitFor();
  await page.getByLabel('Methods').fill('GET,POST');
  await web.app.send('POST', '/security/config', { waf_fail_mode: 'open' });
  await page.getByRole('button', { name: 'Save' }).click();
  const conflict = page.getByRole('alert').filter({ hasText: 'This was changed in between' });
  await conflict.getByRole('cell', { name: 'open', exact: true }).waitFor();
  await conflict.getByRole('button', { name: 'Keep mine' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await until('it is saved', async () => (await configOf())?.waf_mode === 'monitor', WITHIN_MS);
  expect(await configOf()).toMatchObject({
    waf_paranoia_level: 2,
    waf_anomaly_threshold: 15,
    waf_allowed_methods: 'GET,POST',
    waf_fail_mode: 'open',
  });
  expect(errors).toEqual([]);
  await close();
});

test('rules are tried while they are written: what is wrong stands at its line, and what is right is saved, used and deleted', async () => {
  const { page, errors, close } = await signedIn('/firewall/rules');
  await page.getByText('No rules of your own yet').waitFor();
  await page.getByRole('button', { name: 'Add a rule set' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('own');
  await page.getByRole('radio', { name: 'Alone' }).check();
  const editor = page.getByRole('textbox', { name: 'Rules', exact: true });
  await editor.click();
  await page.keyboard.insertText(`${RULE}\nSecRuul x\nSecRule ARGS "@rx ä(" "id:2,phase:2,deny"`);
  await page.getByText('2 mistakes').waitFor({ timeout: WITHIN_MS });
  // Below their lines in the editor, and in a list that leads there.
  await editor.getByText('There is no such directive. Expected: SecRule').waitFor();
  expect(await editor.locator('.cm-mistaken').allTextContents()).toEqual(['SecRuul', '(']);
  expect(await editor.getByText('SecRule', { exact: true }).first().getAttribute('class')).toMatch(/./);
  await page.getByRole('button', { name: 'Line 2' }).click();
  expect(await editor.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Rules');
  // Nothing but the keyboard: Tab leaves the editor.
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Line 2');

  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/^content is not valid: line 2, column 1/).waitFor({ timeout: WITHIN_MS });
  await editor.click();
  // Over all that was there, as any text is replaced.
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(RULE);
  await page.getByText('One rule, nothing wrong').waitFor({ timeout: WITHIN_MS });
  // What loads and does nothing is said as well, and can be saved.
  await page.keyboard.insertText('\nSecTmpDir /tmp');
  await page.getByText('One rule that loads, one warning').waitFor({ timeout: WITHIN_MS });
  await editor.getByText(/^SecTmpDir has no effect/).waitFor();
  expect(await editor.locator('.cm-doubtful').allTextContents()).toEqual(['SecTmpDir']);
  await page.getByRole('listitem').filter({ hasText: 'Line 2: Warning: SecTmpDir has no effect' }).waitFor();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(RULE);
  await page.getByText('One rule, nothing wrong').waitFor({ timeout: WITHIN_MS });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'own' }).waitFor({ timeout: WITHIN_MS });
  expect(await rulesetsOf()).toMatchObject([{ name: 'own', mode: 'custom', content: RULE, rule_count: 1 }]);

  await page.getByRole('button', { name: 'Use own' }).click();
  // It stays as long as the pointer is over it.
  await page.getByRole('button', { name: 'Undo' }).hover();
  await page.getByRole('row', { name: 'own' }).getByText('Chosen').waitFor();
  expect(await configOf()).toMatchObject({ waf_rules_source: 'own' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('button', { name: 'Use own' }).waitFor();

  await page.getByRole('link', { name: 'own' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog', { name: 'Delete own?' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No rules of your own yet').waitFor();
  expect(errors).toEqual([]);
  await close();
});

test('another version of the rules is shown beside what was typed, and a name is taken once', async () => {
  const { body } = await web.app.send<{ ruleset: Ruleset }>('POST', '/security/rulesets', {
    name: 'shared',
    mode: 'custom',
    // As it is written elsewhere: the editor's own line ends are no change.
    content: `${RULE}\r\n# ours`,
  });
  const { page, close } = await signedIn(`/firewall/rules/${body.ruleset.uuid}`);
  const editor = page.getByRole('textbox', { name: 'Rules', exact: true });
  await page.getByText('One rule, nothing wrong').waitFor({ timeout: WITHIN_MS });
  expect(await page.getByRole('button', { name: 'Discard' }).count()).toBe(0);
  await editor.click();
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText('\n# mine');
  await web.app.send('POST', '/security/rulesets', { name: 'shared', mode: 'custom', content: `${RULE}\n# theirs` });
  await page.getByRole('button', { name: 'Save' }).click();
  const conflict = page.getByRole('alert').filter({ hasText: 'This was changed in between' });
  await conflict.getByText('# theirs').waitFor({ timeout: WITHIN_MS });
  await conflict.getByText('# mine').waitFor();
  await conflict.getByRole('button', { name: 'Keep mine' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'shared' }).waitFor({ timeout: WITHIN_MS });
  expect(await rulesetsOf()).toMatchObject([{ content: `${RULE}\n# ours\n# mine` }]);

  await page.goto('/firewall/rules/new');
  await page.getByRole('textbox', { name: 'Name' }).fill('shared');
  await page.getByRole('button', { name: 'Begin with an example' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('there is a rule set of this name').waitFor();
  await web.app.send('DELETE', `/security/rulesets/${body.ruleset.id}`);
  await close();
});

test('an exclusion is written by hand, said in words, and taken back with a way back', async () => {
  const host = { domain: 'shop.example', forward_host: '127.0.0.1', forward_port: 9 };
  const { body: made } = await web.app.send<ProxyHost>('POST', '/proxy-hosts', host);
  const { page, errors, close } = await signedIn('/firewall/exclusions');
  await page.getByText('Nothing is excluded').waitFor();
  await page.getByRole('button', { name: 'Add an exclusion' }).click();
  const form = page.getByRole('dialog', { name: 'Add an exclusion' });
  await form.getByLabel('Number of the rule').fill('942100');
  await form.getByText('Rule 942100 does not look at anything, on any host and path.').waitFor();
  await form.getByText('attacks that only this rule knows get through').waitFor();
  await form.getByLabel('Part of the request').fill('ARGZ:q');
  await form.getByRole('button', { name: 'Add an exclusion' }).click();
  await form.getByText(/^target .*ARGZ/).waitFor({ timeout: WITHIN_MS });
  await form.getByLabel('Part of the request').fill('ARGS:q');
  await form.getByRole('combobox', { name: 'Host' }).fill('shop');
  await form.getByRole('option', { name: 'shop.example' }).click();
  await form.getByLabel('Below the path').fill('/search');
  const sentence = 'Rule 942100 does not look at ARGS:q, on shop.example below /search.';
  await form.getByText(sentence).waitFor();
  await form.getByRole('button', { name: 'Add an exclusion' }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByText(sentence).waitFor();
  expect((await configOf())?.waf_exclusions).toMatchObject([
    { rule_id: 942100, target: 'ARGS:q', host_uuid: made.uuid, path: '/search' },
  ]);

  await page.getByRole('button', { name: 'Remove the exclusion of rule 942100' }).click();
  const undo = page
    .getByRole('alert')
    .filter({ hasText: 'Rule 942100 looks at it again' })
    .getByRole('button', { name: 'Undo' });
  await undo.hover();
  await page.getByText('Nothing is excluded').waitFor();
  await undo.click();
  await page.getByText(sentence).waitFor();

  await page.getByRole('tab', { name: 'Hosts' }).click();
  await page.getByRole('switch', { name: 'Guard shop.example' }).click({ force: true });
  await page.getByRole('row', { name: 'shop.example' }).getByText('Not guarded').waitFor();
  await until(
    'the host is not guarded',
    async () => !(await web.app.send<ProxyHost>('GET', `/proxy-hosts/${made.uuid}`)).body.waf_enabled,
    WITHIN_MS,
  );
  expect(errors).toEqual([]);
  await close();
});

test('who may only look sees how it judges, and nothing to change', async () => {
  const { page, errors, close } = await signedIn('/firewall', {}, 'user');
  await page.getByRole('radio', { name: 'It is refused' }).waitFor();
  expect(await page.getByRole('radio', { name: 'It is refused' }).isDisabled()).toBe(true);
  await page.getByRole('tab', { name: 'Exclusions' }).click();
  await page.getByText('942100').first().waitFor();
  expect(await page.getByRole('button', { name: /Save|Add|Remove/ }).count()).toBe(0);
  expect(errors).toEqual([]);
  await close();
});

describe.each([
  { scheme: 'light', size: [1280, 800], language: 'en' },
  { scheme: 'dark', size: [360, 740], language: 'de' },
] as const)('$scheme, $size.0 wide', (look) => {
  test('nothing is in the way of anybody', async () => {
    const name = `<b>x</b>\u202egnp.${'w'.repeat(200)}`;
    const content = `# ${'<i>'.repeat(3_000)}\n${RULE}\n`;
    const { body } = await web.app.send<{ ruleset: Ruleset }>('POST', '/security/rulesets', {
      name,
      mode: 'custom',
      content,
    });
    const { page, errors, close } = await signedIn('/firewall', look);
    const looksWell = async () => {
      expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
      expect(await tooWideTables(page)).toEqual([]);
      expect(await barriersOf(page)).toEqual([]);
    };
    await page.getByRole('radio').first().waitFor();
    await looksWell();
    for (const [tab, sign] of [
      [1, page.getByRole('link', { name: '<b>x</b>' })],
      [2, page.getByText('942100').first()],
      [3, page.getByRole('link', { name: 'shop.example' })],
    ] as const) {
      await page.getByRole('tab').nth(tab).click();
      await sign.waitFor();
      await looksWell();
    }
    await page.goto(`/firewall/rules/${body.ruleset.uuid}`);
    await page.locator('.cm-line').first().waitFor();
    await looksWell();
    expect(errors).toEqual([]);
    await web.app.send('DELETE', `/security/rulesets/${body.ruleset.id}`);
    await close();
  });
});
