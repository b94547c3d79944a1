import { expect, test } from 'vitest';
import { given } from '../../../test/support/given.ts';
import { createRandom } from '../../../test/support/mutate-request.ts';
import { digest } from '../../../test/support/verdict-digest.ts';
import { formatDiagnostic } from '../../index.ts';
import { compileProgram } from '../compile.ts';
import { createRuleSet } from '../create-rule-set.ts';

const targets = [
  ...[
    'ARGS',
    'ARGS_GET',
    'ARGS_NAMES',
    'ARGS:a',
    'ARGS:/^b/',
    'ARGS|!ARGS:a',
    'ARGS|!ARGS:/b/',
    '&ARGS',
    '&ARGS:a',
    'ARGS_POST|REQUEST_HEADERS:X-A',
  ],
  ...[
    'REQUEST_HEADERS',
    'REQUEST_HEADERS_NAMES',
    'REQUEST_COOKIES|REQUEST_COOKIES_NAMES',
    'REQUEST_URI|ARGS',
    'REQUEST_METHOD',
    'QUERY_STRING',
  ],
  ...[
    'TX:a',
    '&TX:b',
    'TX:/^c/',
    'REQUEST_BODY',
    'REQUEST_FILENAME',
    'ARGS|TX:a',
    'MATCHED_VARS',
    'MATCHED_VARS_NAMES',
    'RESPONSE_BODY',
    'RESPONSE_HEADERS|ARGS',
  ],
];
const operators = [
  ...[
    '@rx a',
    '!@rx ^[a-z]+$',
    '@rx (?i)b(c|d)',
    '@rx ^.*$',
    '@pm foo bar',
    '@contains b',
    '!@contains c',
    '@streq foo',
    '@beginsWith a',
    '@endsWith o',
  ],
  ...[
    '@within foo bar baz',
    '@eq 1',
    '@gt 0',
    '!@eq 0',
    '@ge %{tx.a}',
    '@contains %{tx.b}',
    '@validateByteRange 97-122',
    '@rx (f)(o)',
    '@unconditionalMatch',
  ],
];
const steps = [
  'none',
  'lowercase',
  'urlDecodeUni',
  'removeWhitespace',
  'compressWhitespace',
  'cmdLine',
  'base64Decode',
  'htmlEntityDecode',
  'length',
  'removeNulls',
];
const effects = [
  ...[
    'setvar:tx.a=+1',
    'setvar:tx.b=%{MATCHED_VAR}',
    'setvar:tx.c_%{MATCHED_VAR_NAME}=1',
    'setvar:tx.c1=%{tx.0}',
    'setvar:!tx.b',
    'capture',
    'multiMatch',
  ],
  ...[
    'ctl:ruleRemoveById=3',
    'ctl:ruleRemoveTargetById=4-9;ARGS:a',
    'ctl:ruleRemoveTargetById=5;REQUEST_COOKIES',
    'ctl:ruleRemoveByTag=even',
  ],
  ...['msg:%{tx.1} in %{MATCHED_VAR_NAME}', 'logdata:%{tx.0}', 'severity:2'],
];
const words = [
  'a',
  'foo',
  'bar',
  'bcd',
  'B',
  'Foo',
  '1',
  '%66oo',
  'f o o',
  'Zm9v',
  '&lt;a',
  '',
  'o',
  'ab%00c',
  'baz baz',
  '\xff',
];

const createRules = (random: (below: number) => number): string => {
  const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;
  const lines: string[] = ['SecRuleEngine On', 'SecRequestBodyAccess On', 'SecResponseBodyAccess On'];
  const phases = [1, 2, 2, 2, 3, 4, 5];
  // Quiet rules about TX alone, as CRS begins with: the engine folds what it can of them at load.
  for (let id = 101; id <= 108; id++) {
    const [name, other] = [pick(['a', 'b', 'c1', 'k']), pick(['a', 'b', 'c1', 'k'])];
    const effect = pick([
      `setvar:tx.${name}=${random(4)}`,
      `setvar:tx.${name}=+%{tx.${other}}`,
      `setvar:tx.${name}=%{tx.${other}}`,
      `setvar:!tx.${name}`,
    ]);
    const test = pick([
      `TX:${other} "@lt ${random(3)}"`,
      `&TX:${other} "@eq ${random(2)}"`,
      `TX:${other} "!@ge %{tx.${name}}"`,
    ]);
    const quiet = random(8) === 0 ? 'pass' : 'pass,nolog';
    const kind = random(3);
    if (kind === 0) lines.push(`SecAction "id:${id},phase:1,${quiet},${effect}"`);
    else if (kind === 1)
      lines.push(`SecRule ${test} "id:${id},phase:${pick(phases)},${quiet},skipAfter:END${random(3)}"`);
    else lines.push(`SecRule ${test} "id:${id},phase:1,${quiet},${effect}"`);
    if (random(6) === 0)
      lines.push(
        `SecRule ARGS "@contains a" "id:${id + 100},phase:1,pass,nolog,${effect},ctl:ruleRemoveById=${101 + random(8)}"`,
      );
  }
  for (let id = 1; id <= 14; id++) {
    const isChained = random(4) === 0;
    const skip = random(6) === 0 ? [`skipAfter:END${random(3)}`] : random(9) === 0 ? ['skip:2'] : [];
    const ending = random(12) === 0 ? 'deny' : random(15) === 0 ? 'allow:phase' : 'pass';
    const transformations = Array.from({ length: random(3) }, () => `t:${pick(steps)}`);
    const chosen = Array.from({ length: random(4) }, () => pick(effects));
    const head = [
      `id:${id}`,
      `phase:${pick(phases)}`,
      ending,
      ...(id % 2 === 0 ? ['tag:even'] : []),
      ...transformations,
      ...chosen,
      ...skip,
    ];
    lines.push(
      `SecRule ${pick(targets)} "${pick(operators)}" "${[...head, ...(isChained ? ['chain'] : [])].join(',')}"`,
    );
    if (isChained) {
      const tail = [`t:${pick(steps)}`, ...chosen.filter((effect) => !/^(?:msg|logdata|severity)/.test(effect))];
      lines.push(`  SecRule ${pick(targets)} "${pick(operators)}" "${tail.join(',')}"`);
    }
    if (random(5) === 0) lines.push(`SecMarker END${random(3)}`);
  }
  return lines.join('\n');
};

test('random rules come to the same verdict scanned, scanned without memo, and evaluated one by one', () => {
  const random = createRandom(7);
  const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;
  const pairs = (separator: string): string =>
    Array.from({ length: random(4) }, () => `${pick(['a', 'b', 'ab', 'foo'])}=${pick(words)}`).join(separator);
  for (let round = 0; round < 300; round++) {
    const text = createRules(random);
    const { program, diagnostics } = compileProgram([{ path: 'random', text }], {});
    const errors = diagnostics.filter(({ severity }) => severity === 'error').map(formatDiagnostic);
    expect(errors, text).toEqual([]);
    const engines = [
      createRuleSet(program!, {}, { isNaive: true }),
      createRuleSet(program!, {}),
      createRuleSet(program!, { memoBytes: 0 }),
    ];
    for (let requests = 0; requests < 8; requests++) {
      const headers = { 'X-A': pick(words), Cookie: pairs('; '), 'Content-Type': 'application/x-www-form-urlencoded' };
      const request = given.request({ method: pick(['GET', 'POST']), query: pairs('&'), headers, body: pairs('&') });
      const response = {
        status: 200,
        headers: [[Buffer.from('Content-Type'), Buffer.from('text/plain')]] as const,
        body: Buffer.from(pick(words)),
      };
      const [naive, ...others] = engines.map((engine) => digest(engine.begin(request).inspectResponse(response)));
      for (const other of others) expect(other, text).toEqual(naive);
    }
  }
});
