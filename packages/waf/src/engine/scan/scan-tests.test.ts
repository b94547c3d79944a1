import { expect, test } from 'vitest';
import { scriptAttacks } from '../../../test/injection-grammar/script-attacks.ts';
import { sqlAttacks } from '../../../test/injection-grammar/sql-attacks.ts';
import { given } from '../../../test/support/given.ts';
import { detectScript } from '../../operators/html/detect-script.ts';
import { detectSqlInjection } from '../../operators/sql/detect-sql-injection.ts';
import { compile } from '../compile.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

/** Texts of attacks without any one of their kinds of bytes: what one kind alone is found by. */
function* thinned(texts: Iterable<{ readonly text: string }>, count: number): Generator<string> {
  const kinds = [/<|>/g, /=/g, /\(|\)/g, /'/g, /"/g, /`/g, /[{}]/g, /\s/g];
  let left = count;
  for (const { text } of texts) {
    yield text;
    for (const kind of kinds) yield text.replace(kind, '');
    if (--left === 0) return;
  }
}

const markup = [
  '<script>',
  '<img src=x onerror=alert(1)>',
  ' onload=x',
  'a" style="x:y',
  '<!doctype x>',
  '<!--[if',
  'x onclick=`y`',
];

test.each([
  ['@detectXSS', (value: Uint8Array) => detectScript(value, 0, value.length), scriptAttacks],
  ['@detectSQLi', (value: Uint8Array) => detectSqlInjection(value, 0, value.length) !== null, sqlAttacks],
] as const)('%s is asked about every value that it finds', (operator, finds, attacks) => {
  const { ruleSet } = compile([
    { path: 'one.conf', text: `SecRuleEngine On\nSecRule REQUEST_HEADERS:X "${operator}" "id:1,phase:1,deny,t:none"` },
  ]);
  let found = 0;
  for (const text of [...markup, ...thinned(attacks(3), 400)]) {
    if (!finds(bytes(text))) continue;
    found++;
    const { action } = ruleSet!.inspect(given.request({ headers: { X: text } }));
    if (action !== 'block') expect.fail(`${JSON.stringify(text)} was found and not blocked`);
  }
  expect(found).toBeGreaterThan(500);
});
