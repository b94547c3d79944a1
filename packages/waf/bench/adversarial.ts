// The worst that requests can cost: node packages/waf/bench/adversarial.ts [paranoia level, 1 unless given]

import { compileCrs3 } from '../../../test/support/waf/crs.ts';
import { engineRequest } from '../../../test/support/waf/requests.ts';
import type { WafRequest } from '../src/index.ts';
import { attackTexts, pumped } from '../src/regex/attack-texts.ts';
import { defaultFlags, parsePcre } from '../src/regex/index.ts';
import { crs3Patterns } from './crs-patterns.ts';

const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const form = 'application/x-www-form-urlencoded';
const size = 20_000;

const post = (type: string, body: Uint8Array): WafRequest => {
  const request = engineRequest('GET', '1');
  const headers = [
    ...request.headers,
    [latin1('Content-Type'), latin1(type)] as const,
    [latin1('Content-Length'), latin1(String(body.length))] as const,
  ];
  return { ...request, method: latin1('POST'), uri: latin1('/form'), headers, body };
};

/** Percent-encodes every byte that a form could not carry. */
const encode = (bytes: Uint8Array): string =>
  Buffer.from(bytes)
    .toString('latin1')
    .replace(/[^A-Za-z0-9]/g, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`);

type Attack = { readonly name: string; readonly request: WafRequest; readonly bytes: number };

const formOf = (name: string, value: Uint8Array): Attack => ({
  name,
  request: post(form, latin1(`a=${encode(value)}`)),
  bytes: value.length,
});
const bodyOf = (name: string, type: string, body: string): Attack => ({
  name,
  request: post(type, latin1(body)),
  bytes: body.length,
});

const withHeaders = (name: string, headers: readonly (readonly [string, string])[]): Attack => {
  const request = engineRequest('GET', '1');
  const added = headers.map(([field, value]) => [latin1(field), latin1(value)] as const);
  const bytes = headers.reduce((sum, [field, value]) => sum + field.length + value.length, 0);
  return { name, request: { ...request, headers: [...request.headers, ...added] }, bytes };
};

const counted = (count: number, make: (n: number) => string): string[] =>
  Array.from({ length: count }, (_, n) => make(n));

/** What a flood of small things, expansions and nested encodings costs, for each way into the engine. */
const floods = (): Attack[] => {
  const field = (name: string, value: string): string =>
    `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const script = '<img src=x onerror=alert(1)>';
  return [
    withHeaders('cookie flood', [['Cookie', counted(900, (n) => `c${n}=v${n}'or+${n}`).join('; ')]]),
    withHeaders('cookie flood of script', [['Cookie', counted(500, (n) => `c${n}=${script}`).join('; ')]]),
    withHeaders(
      'header flood',
      counted(200, (n) => `X-Header-${n}`).map((name, n) => [name, `value ${n} union select ${n}`.repeat(3)] as const),
    ),
    withHeaders('long User-Agent of SQL', [['User-Agent', "1' or 1=1 /*x*/ union select ".repeat(500)]]),
    withHeaders('long Referer of encodings', [['Referer', `https://a/?b=${'%25%32%35%u0041&#x3c;'.repeat(700)}`]]),
    bodyOf('1,000 parameters of script', form, counted(1_000, (n) => `p${n}=${encodeURIComponent(script)}`).join('&')),
    bodyOf('1,000 parameters of commands', form, counted(1_000, (n) => `p${n}=;cat+/etc/passwd|nc+${n}`).join('&')),
    bodyOf('1,000 parameters of PHP', form, counted(1_000, (n) => `p${n}=<?php+system($_GET[${n}]);`).join('&')),
    bodyOf('1,000 long names', form, counted(1_000, (n) => `${'select'.repeat(20)}${n}=1`).join('&')),
    bodyOf(
      '900 parts of multipart',
      'multipart/form-data; boundary=x',
      `${counted(900, (n) => field(`p${n}`, `1' or ${n}=${n}--`)).join('')}--x--\r\n`,
    ),
    bodyOf(
      'JSON of 900 SQL values',
      'application/json',
      JSON.stringify(counted(900, (n) => `1' union select ${n} from t`)),
    ),
    bodyOf('JSON of escapes', 'application/json', `{"a":"${'\\u003c\\u0073'.repeat(8_000)}"}`),
    bodyOf('XML of 5,000 elements', 'text/xml', `<a>${counted(5_000, (n) => `<b c="${n}' or 1">x</b>`).join('')}</a>`),
    bodyOf('XML in XML', 'text/xml', `${'<a>'.repeat(400)}${'select '.repeat(4_000)}${'</a>'.repeat(400)}`),
    ...(
      [
        ['entities', '&#x26;#x26;#x3c;'],
        ['CSS escapes', '\\3c \\000073\\63 '],
        ['JavaScript escapes', '\\x3c\\u0073\\143'],
        ['percent of percent', '%2525253c'],
        ['%u escapes', '%u003c%uff1c'],
        ['comments', '/**//*!*/--+#'],
        ['nested comments', '/*/*/*'],
        ['quotes of both kinds', `'"\`'"`],
        ['brackets', '((((])}['],
        ['shell expansions', '$((`a`))'],
        ['paths upwards', '../..\\../'],
        ['tags', '<a b=c d'],
        ['tags closed', '</a><!--><![CDATA['],
        ['attributes', ' onx=y style=z'],
        ['SQL words', 'select union and or like in '],
        ['SQL words cut by ticks', '`a`LIKE'],
        ['SQL words cut by dots', '1LIKE.'],
        ['SQL numbers', '1e1.1 0x1f-1+'],
        ['SQL strings', "'a'||'b'+"],
        ['base64 of base64', Buffer.from("' or 1=1 -- ").toString('base64')],
        ['spaces of all kinds', ' \t\v\f\xa0'],
        ['UTF-8 overlong', '\xc0\xbc\xe2\x80\xa8'],
      ] as const
    ).map(([name, pump]) => formOf(`128 KB of ${name}`, latin1(pump.repeat(Math.ceil(131_072 / pump.length))))),
  ];
};

/** Each loop of each pattern pumped to 20 KB, as one form value. */
const pumpedPatterns = (): Attack[] =>
  crs3Patterns().flatMap(({ id, source }) =>
    attackTexts(parsePcre(source, defaultFlags)).map((attack) =>
      formOf(`pumped ${id}`, pumped(attack, Math.ceil(size / attack.pump.length))),
    ),
  );

const shapes = (): Attack[] => {
  const parts = Array.from(
    { length: 400 },
    (_, part) =>
      `--x\r\nContent-Disposition: form-data; name="p${part}"; filename="f${part}.txt"\r\n\r\n--y\r\nselect ${part}\r\n`,
  );
  return [
    bodyOf('deep JSON', 'application/json', `${'['.repeat(60_000)}1${']'.repeat(60_000)}`),
    bodyOf('deep JSON within the limit', 'application/json', `${'{"a":'.repeat(400)}1${'}'.repeat(400)}`),
    bodyOf('10,000 parameters', form, Array.from({ length: 10_000 }, (_, n) => `p${n}=v${n}`).join('&')),
    bodyOf(
      '1,000 parameters of SQL',
      form,
      Array.from({ length: 1_000 }, (_, n) => `p${n}=1+union+select+${n}+from+t`).join('&'),
    ),
    bodyOf('nested multipart', 'multipart/form-data; boundary=x', `${parts.join('')}--x--\r\n`),
    ...['a', '0', ' ', '%', '\\', "'", '(', '<', '/', '.', '\xff', '&', '=', ';', '\n', '\0'].map((char) =>
      formOf(`128 KB of ${JSON.stringify(char)}`, latin1(char.repeat(131_072))),
    ),
    formOf(
      '128 KB of random bytes',
      Uint8Array.from({ length: 131_072 }, (_, at) => Math.imul(at, 2_654_435_761) >>> 24),
    ),
    formOf('128 KB of mixed attack words', latin1("' or select(<script>/*\\x;$(eval ".repeat(4_096))),
  ];
};

const level = Number(process.argv[2] ?? 1) as 1 | 2 | 3 | 4;
// Without a memo, so that the second of two runs, by then on compiled code, has to do it all again.
const ruleSet = compileCrs3(level, { memoBytes: 0 });
for (let count = 0; count < 500; count++) ruleSet.inspect(engineRequest('form', String(count)));
const results = [...shapes(), ...floods(), ...pumpedPatterns()].map(({ name, request, bytes }) => {
  const judge = () => {
    const start = process.cpuUsage();
    const { limitsHit, workUnits } = ruleSet.inspect(request, { mode: 'detect' });
    const { user, system } = process.cpuUsage(start);
    return { micros: user + system, limitsHit, workUnits };
  };
  const runs = [judge(), judge()];
  const { micros, limitsHit, workUnits } = runs[0]!.micros < runs[1]!.micros ? runs[0]! : runs[1]!;
  return {
    name,
    bytes,
    millis: micros / 1_000,
    perByte: micros / bytes,
    limits: limitsHit.join(' '),
    units: workUnits,
  };
});
results.sort((a, b) => b.millis - a.millis);
process.stdout.write(`${results.length} requests at PL${level}; the slowest:\n`);
for (const { name, bytes, millis, perByte, limits, units } of results.slice(0, 25)) {
  process.stdout.write(
    `${millis.toFixed(1).padStart(8)} ms ${perByte.toFixed(2).padStart(6)} µs/byte ${String(bytes).padStart(7)} bytes ${(units / bytes).toFixed(0).padStart(6)} units/byte  ${name} ${limits}\n`,
  );
}
const worst = results.toSorted((a, b) => b.perByte - a.perByte).find(({ bytes }) => bytes >= 10_000)!;
process.stdout.write(`worst per byte of those over 10 KB: ${worst.perByte.toFixed(2)} µs (${worst.name})\n`);
