import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { oracleFolder } from '../../../../../test/support/ftw/oracle-folder.ts';
import { detectSqlInjection } from './detect-sql-injection.ts';

/** Between other bytes, which must not count. */
const sqli = (text: string, encoding: 'utf8' | 'latin1' = 'utf8'): string | null => {
  const buf = Buffer.from(`'*/${text}'--`, encoding);
  return detectSqlInjection(buf, 3, buf.length - 3);
};

test.each([
  // A condition that is always true, in each kind of quote and without one.
  ["1' or '1'='1", 's&sos'],
  ['1" or "1"="1', 's&sos'],
  ['1 or 2=2-- ', '1&1c'],
  ["x') or (1)=(1", 's)&(1'],
  ["EmptyValue' and 526=527", 's&1'],
  ["' or true", 's&1'],
  ["1'||'1'='1", 's&sos'],
  // Queries, commands and files.
  ["' union select 1,2 -- ", 'sUE1c'],
  ['-1 UNION/**/ALL SELECT user,password FROM users', '1UEnk'],
  ["1; exec xp_cmdshell('dir')", '1;Tf('],
  ["'; waitfor delay '0:0:5'", 's;Es'],
  ["x' into outfile '/tmp/x", 'sks'],
  ['1 order by (select 1)', '1B(E1'],
  // Functions.
  ['sleep(20)', 'f(1)'],
  ["2010-01-01'+sleep(20.to_i)+'", 'sof(1'],
  ['unittests@coreruleset.org" sleep(10.to_i) "', 'sf(1n'],
  ['extractvalue(1,concat(0x7e,version()))', 'f(1,f'],
  // Text that is spliced into a concatenation, and a rest that is cut off.
  ['" | type %SystemDrive%\\config.ini | "', 'sos'],
  ["admin'--", 'sc'],
  ["x'--sp_password", 'sc'],
  ['foo" and 1=1 `', 's&1c'],
  ['1/*', '1c'],
  // A column compared with a call, and columns with the names of functions.
  ["x' or id=char(49)-- ", 's&nof'],
  ['1 and name>char(64)', '1&nof'],
  ["x' or uid=1-- ", 's&nc'],
  ["x' or level=length(name)-- ", 's&nof'],
  ["x' or date '2020-01-01'<now()-- ", 's&sof'],
  // CASE as an operand, a list to sort by, a count of rows.
  ["1 AND CASE WHEN substr(password,1,1)='a' THEN 1 ELSE 0 END", '1&Ekf'],
  ["x' and case 1 when 1 then 1 else 0 end-- ", 's&E1k'],
  ['id,(case when (1=1) then id else price end)', 'n,(Ek'],
  ['price order by 1,(select 1)', 'nB1,('],
  ['10 offset 1 union select 1', '1k1UE'],
  // Further rows and columns, statements that others stand before.
  ["x', 1), ('admin', 1)-- ", 's),(s'],
  ["x',role='admin' where id=1-- ", 'soskn'],
  ["1; if not(1=2) waitfor delay '0:0:5'", '1;T(1'],
  ["1; if not exists(select 1) waitfor delay '0:0:5'", '1;T(E'],
  ['1 minus select user from dual', '1UEnk'],
  ['id;update users set admin=1', 'n;EnE'],
  ["1; attach database '/srv/x.php' as x", '1;Tns'],
  ['id;create table x (id int)', 'n;Tnn'],
  // Blanks and quoting that only some servers know.
  ["1'\xa0or\xa0'1'='1", 's&sos'],
  ["1'\0or\0'1'='1", 's&sos'],
  ["\\\\' or 1=1 -- ", 's&1c'],
  ['1 or `x`=`x` union select 1', '1&nUE'],
  ["q'[x]' or 1=1 --", 's&1c'],
  ['$a$x$a$ or 1=1 --', 's&1c'],
  ['$$x$$ or 1=1 --', 's&1c'],
  ["x' or id=`char`(49)-- ", 's&nof'],
  ['`sleep`(20)', 'f(1)'],
  // An odd number of backslashes before a quote, and comments of MySQL's alone.
  ['1 or "\\\\\\""=1 --', '1&so1'],
  ['1 or 2=2#', '1&1c'],
  ['sleep#\n(5)', 'f(1)'],
  // Numbers and quoted texts as PostgreSQL takes them, and casts to all kinds of types.
  ['1 or 0x1f=31', '1&1'],
  ['1 or 0o17=0O_1_7', '1&1'],
  ['1 or 0x3_1=0b1_1', '1&1'],
  ['1 or 1.5_0e1_0=.5_1', '1&1'],
  ['1 or 0between 0 and 1', '1&1'],
  ['0or 1=1', '1&1'],
  ['$a_1\xe9$x$a_1\xe9$ or 1=1 --', 's&1c'],
  ['1::double precision or 1=1', '1&1'],
  ["1 or 'x'::character varying(5)='x'", '1&sos'],
  ['1::numeric(5,2) or 1=1', '1&1'],
  ["x'::timestamp(3) with time zone or 1=1--", 's&1c'],
  ["{}'::int[] is null or 1=1--", 'sov&1'],
  ['1::"int4" or 1=1', '1&1'],
  ['(1)::int or 1=1', '1)&1'],
  ["2020-01-01'::date or 1=1--", 's&1c'],
  // A column with the name of a keyword, a command that takes a number, an operator of three signs.
  ["x',time='1", 's,kos'],
  ['1;kill 1-- ', '1;k1c'],
  ['1 <=>@x', '1ov'],
  ['1 or @x=sleep(5)', '1&vof'],
  ['$5 or 1=1', '1&1'],
  ['1 and mod(5,2)=1', '1&f(1'],
  ['1-div(5,2)', '1of(1'],
  ['$1,000.50 or 1=1', '1&1'],
])('%j is %s', (text, fingerprint) => {
  expect(sqli(text, 'latin1')).toBe(fingerprint);
});

test.each(['/*!50000select*/ 1', '/post/*/*/2 union all/bar', '1 /*! or 1=1 */', '{``.``.id}'])(
  '%j is nothing that all servers read alike',
  (text) => {
    expect(sqli(text)).toBe('X');
  },
);

test.each([
  "it's 5 and 6 or so",
  "rock 'n' roll and 80s",
  'He said "yes" or 2 people did',
  "O'Brien (senior), c/o 'The Inn'",
  "Mary O'Neil and Sean D'Angelo",
  "C'est l'été; j'ai 5 ans, et toi?",
  'Das ist\'s, oder? "Ja" und nein -- gut',
  'sleep well',
  'left to right (4)',
  'a "quoted" + b',
  'Select a seat for two, please; update us by 5pm',
  'the union of select committees',
  'drop by tomorrow -- or call us',
  'sort by price, group by size',
  '5\' 10" and 180 lbs',
  'Tom & Jerry, 1/2 price (today only!)',
  '#hashtag #fun 2 -- more',
  'https://shop.example/search?q=o%27reilly&sort=price,asc#top',
  '{"id":7,"name":"Tom\'s","tags":["a","b"]}',
  '<b>bold</b> and <i>it</i>',
  'const x = a === b ? "c" : \'d\';',
  "import { createServer } from 'node:http';",
  'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0',
  'GA1.2.1812345678.1712345678',
  'xK9"#vT\'2q!',
  '"SUM(A1:B2)"',
  '"1 or 2"',
  'if (x == -1) return;',
  'uid = 5',
  'date, time and place',
  'order date: 5, count: 3',
  "elk pakket. De 'escape'-reeks",
  "it's a - test, isn't it?",
  "O'Neal Select (née Fatima)",
  'type: "date" and level: "top"',
  'my_1_000 and more',
  '50% (draft)',
  '50 % (draft)',
  '12.5% (net)',
  '50% (draft) done',
  '20% (estimate) of the sum for 2026',
  'Select. (Name; set of two)',
  'Select * union select seats',
  'if length having count(x)',
  'is null; drop',
  'version 1 begin count(x)',
  'std::max(a, b)',
  '5 mod (3)',
])('%j is none', (text) => {
  expect(sqli(text)).toBeNull();
});

test('a byte of UTF-8 is no blank', () => {
  expect(sqli("x'\xc2or\xc21=1", 'latin1')).toBeNull();
});

test.each([
  '1%(password)',
  '1%(select password)',
  '1% (password) or 1=1',
  '1% (name)-sleep(5)',
  '1-(password)',
  '1% (id) x from users',
  '1% (id) x, password',
  '1% (id) x union select 1',
  '1% (id) x;drop table users',
  '1% (id) `x` y',
  '1% (id) x--',
  '1% (id) x y /*',
  '1% (id) x y or sleep(5)',
  "1% (id) x y '",
  '1% (id+1) x',
  '(1% (id) x or 1',
])('the remainder of a column is no share: %s', (text) => expect(sqli(text)).not.toBeNull());

test.each([
  ["' or 1=1 -- ", ' '.repeat(5000)],
  ["' or 1=1 -- ", 'a'.repeat(5000)],
  ["' union select 1,2 -- ", 'lorem ipsum '.repeat(900)],
  [" or 1=1 -- '", `/*${'pad ding '.repeat(1000)}*/1`],
])('padding before %j does not hide it', (attack, padding) => {
  expect(sqli(padding + attack)).not.toBeNull();
});

test('any bytes have an answer, and the same one wherever they lie', () => {
  const piece = fc.constantFrom(
    ...[
      "'",
      '"',
      '`',
      '(',
      ')',
      '/*',
      '*/',
      '--',
      '#',
      ';',
      ',',
      '@',
      '$',
      '$a$',
      '\\',
      '{',
      '}',
      '[',
      '.',
      '1',
      '0x',
      '1e',
      'q',
      "N'",
      ' ',
    ],
    ...[
      'select',
      'union',
      'or',
      'not',
      'in',
      'like',
      'user',
      'collate',
      'x_y',
      'int',
      '::',
      'begin',
      'sleep',
      '\0',
      '\xff',
    ],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const text = pieces.join('');
      const buf = Buffer.from(text, 'latin1');
      expect(sqli(text, 'latin1')).toBe(detectSqlInjection(buf, 0, buf.length));
    }),
    { numRuns: 3000 },
  );
});

test.each([
  "1 union select.1 from `users` where sleep.x(5) or date.y '2020-01-01' -- x",
  "1 or q'[x]' or nq'[x]' or x'31' or $a$b$a$=$1.5",
])('a value ends where it ends, whatever word goes on behind it: %s', (text) => {
  const whole = Buffer.from(text);
  for (let end = 1; end <= whole.length; end++) {
    const alone = Uint8Array.from(whole.subarray(0, end));
    expect(detectSqlInjection(whole, 0, end), `${end} bytes`).toBe(detectSqlInjection(alone, 0, end));
  }
});

test('a lone word or number is none', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z_][a-z0-9_]{0,12}$|^[0-9]{1,12}$/), (word) => {
      // Behind a blank the quick answer does not hold, and the word means the same.
      expect(sqli(` ${word}`)).toBeNull();
    }),
    { numRuns: 1000 },
  );
});

const cases = join(oracleFolder, 'libinjection');
const files = existsSync(cases) ? readdirSync(cases).filter((file) => file.endsWith('.txt')) : [];
const missing = files.length === 0 ? ' (none run: there is no ../shared/waf-oracles beside the repository)' : '';

test.skipIf(files.length === 0)(`${files.length} of libinjection's 50 SQL cases${missing}`, () => {
  expect(files).toHaveLength(50);
  const wrong: string[] = [];
  for (const file of files) {
    const parts = /--INPUT--\n([\s\S]*?)\n?--EXPECTED--\n?([\s\S]*)$/.exec(readFileSync(join(cases, file), 'latin1'));
    const actual = sqli(parts?.[1] ?? '', 'latin1') ?? '';
    if (actual !== parts?.[2]?.trim()) wrong.push(`${file}: ${parts?.[1]} is ${actual}, not ${parts?.[2]}`);
  }
  expect(wrong).toEqual([]);
});

const floods = ['`a`LIKE', '1LIKE.', 'a.', "q'(", '/*', '$a$', "\\'"];
/** Names of functions, behind which a parenthesis is looked for. */
const names = ['sleep--', 'sleep-', 'sleep#', '"sleep--', 'sleep/**/+', 'sleep--\n+', 'sleep/*', 'if(', '1_'];

test.each([...floods, ...names])('two megabytes of %s are read once, not once for each of them', (unit) => {
  const buf = Buffer.from(unit.repeat(2_000_000 / unit.length));
  // Read to the end for each, they would take minutes.
  expect(() => detectSqlInjection(buf, 0, buf.length)).not.toThrow();
});
