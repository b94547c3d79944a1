import { describe, expect, test } from 'vitest';
import { collectDiagnostics, type Diagnostic, formatDiagnostic } from './diagnostic.ts';
import { type ParseEnv, parseSecLang } from './parse.ts';

const parse = (
  text: string,
  files: Readonly<Record<string, string>> = {},
  dialect: ParseEnv['dialect'] = 'modsecurity2',
) => {
  const found: Diagnostic[] = [];
  const env: ParseEnv = {
    dialect,
    expand: (pattern) =>
      pattern.endsWith('*') ? Object.keys(files).filter((name) => name.startsWith(pattern.slice(0, -1))) : [pattern],
    read(path) {
      if (!Object.hasOwn(files, path)) throw new Error('no such file');
      return files[path]!;
    },
  };
  const directives = parseSecLang('main.conf', text, env, collectDiagnostics(found));
  return { directives, problems: found.map(formatDiagnostic) };
};

/** The only rule of a text, without its places. */
const ruleOf = (text: string, dialect: ParseEnv['dialect'] = 'modsecurity2') => {
  const { directives, problems } = parse(text, {}, dialect);
  expect(problems).toEqual([]);
  const [rule] = directives;
  if (rule?.kind !== 'rule') throw new Error('not a rule');
  return {
    targets: rule.targets.map(({ mode, variable, selector }) => ({ mode, variable, selector })),
    operator: { name: rule.operator.name, isNegated: rule.operator.isNegated, argument: rule.operator.argument },
    actions: rule.actions.map(({ name, value }) => [name, value]),
  };
};

test('files are named beside the file that names them, or from the root', () => {
  const files = {
    'rules/one.conf': 'Include two.conf',
    'rules/two.conf': 'Include /other/three.conf',
    '/other/three.conf': 'SecRuleEngine On',
  };
  const { directives, problems } = parse('Include rules/one.conf', files);
  expect(problems).toEqual([]);
  expect(directives).toMatchObject([{ place: { file: '/other/three.conf' } }]);
});

describe('lines', () => {
  test('at the end of a file there is nothing to join: the backslash belongs to the word', () => {
    const rule = (end: string) => ruleOf(`SecRule ARGS "@rx a" id:1,msg:a${end}`).actions.at(-1);
    expect(rule('\\')).toEqual(['msg', 'a\\']);
    expect(rule('\\\n')).toEqual(['msg', 'a']);
  });

  test('are joined where they end in a backslash, and places stay those of the file', () => {
    const { directives } = parse('\n  SecRule ARGS \\\r\n    "@rx a" \\\r\n    "id:1,\\\r\n    pass"\r\n');
    expect(directives).toHaveLength(1);
    const [rule] = directives;
    if (rule?.kind !== 'rule') throw new Error('not a rule');
    expect(rule.place).toEqual({ file: 'main.conf', line: 2, column: 3 });
    expect(rule.operator.place).toMatchObject({ line: 3, column: 6 });
    expect(rule.actions.map(({ name, place }) => [name, place.line, place.column])).toEqual([
      ['id', 4, 6],
      ['pass', 5, 5],
    ]);
  });

  test('that begin with # are comments, with what they continue; a swallowed directive is warned about', () => {
    expect(parse('# SecRule \\\n  "x"\n\n   # another').problems).toEqual([]);
    expect(parse('# comment \\\nwhere a SecRule is no directive').problems).toEqual([]);
    expect(parse('SecMarker a\n# comment \\').directives).toHaveLength(1);
    expect(parse('# comment \\\nSecRuleEngine On\n').problems).toEqual([
      'main.conf:2:1: warning: This line belongs to the comment above, which ends in a backslash (near "SecRuleEngine On")',
    ]);
  });
});

describe('quotes', () => {
  test('keep blanks, and a backslash escapes the quote', () => {
    expect(ruleOf('SecRule ARGS "@contains say \\"hi\\" now" "id:1"').operator.argument).toBe('say "hi" now');
  });

  test.each([
    ['[\\\\/]', '[\\\\/]'],
    ['\\\\[ux]', '\\\\[ux]'],
    ['[=\\\\\\(]', '[=\\\\\\(]'],
    ['[^\\\\\\\\]', '[^\\\\]'],
    ['c:\\\\\\\\inetpub', 'c:\\\\inetpub'],
    ['[\\\\\\"]', '[\\\\"]'],
    ['\\"\\d\\"', '"\\d"'],
  ])('in a pattern mean a backslash, two as well as four: %s', (written, read) => {
    expect(ruleOf(`SecRule ARGS "${written}" "id:1"`).operator.argument).toBe(read);
    expect(ruleOf(`SecRule ARGS "!@rx ${written}" "id:1"`).operator.argument).toBe(read);
  });

  test('two in what is no pattern are one for ModSecurity 2', () => {
    expect(ruleOf('SecRule ARGS "@contains a\\\\b" "id:1"').operator.argument).toBe('a\\b');
  });

  test('read four backslashes as two for ModSecurity 2, as four for ModSecurity 3; others stay', () => {
    expect(ruleOf('SecRule ARGS "@rx a\\\\\\\\b\\d" "id:1"').operator.argument).toBe('a\\\\b\\d');
    expect(ruleOf('SecRule ARGS "@rx a\\\\\\\\b\\d" "id:1"', 'modsecurity3').operator.argument).toBe('a\\\\\\\\b\\d');
  });

  test.each([
    ['SecRule ARGS "@rx a', '1:14: error: This quote is never closed (near ""@rx a"; expected a closing ")'],
    ['SecRule ARGS "@rx a"x "id:1"', '1:21: error: Text follows a closing quote (near "x"; expected a space)'],
  ])('that are wrong are reported: %s', (text, problem) => {
    expect(parse(text).problems).toEqual([`main.conf:${problem}`]);
  });
});

describe('variables', () => {
  test('come as names, counts, exclusions and selectors', () => {
    const text = `SecRule "ARGS|!ARGS:a.b|&REQUEST_HEADERS:Host|REQUEST_COOKIES:/^_ga|x/|TX:'/a b|c/'|XML:/*|XML://@*|args_get" "@rx a" "id:1"`;
    expect(ruleOf(text).targets).toEqual([
      { mode: 'use', variable: 'ARGS', selector: null },
      { mode: 'exclude', variable: 'ARGS', selector: { kind: 'literal', name: 'a.b' } },
      { mode: 'count', variable: 'REQUEST_HEADERS', selector: { kind: 'literal', name: 'Host' } },
      { mode: 'use', variable: 'REQUEST_COOKIES', selector: { kind: 'regex', source: '^_ga|x' } },
      { mode: 'use', variable: 'TX', selector: { kind: 'regex', source: 'a b|c' } },
      { mode: 'use', variable: 'XML', selector: { kind: 'xpath', path: '/*' } },
      { mode: 'use', variable: 'XML', selector: { kind: 'xpath', path: '//@*' } },
      { mode: 'use', variable: 'ARGS_GET', selector: null },
    ]);
  });

  test('take a dot for the colon, as macros do', () => {
    expect(ruleOf('SecRule TX.a.b "@rx a" "id:1"').targets).toEqual([
      { mode: 'use', variable: 'TX', selector: { kind: 'literal', name: 'a.b' } },
    ]);
  });

  test.each([
    [
      'SecRule "" "@rx a" "id:1"',
      '1:10: error: A rule needs at least one variable (expected a variable name such as ARGS)',
    ],
    [
      'SecRule ARGS|1X "@rx a" "id:1"',
      '1:14: error: This is not a variable (near "1X"; expected a variable name such as ARGS)',
    ],
    [
      'SecRule ARGS: "@rx a" "id:1"',
      '1:14: error: ARGS: names nothing (near "ARGS:"; expected a name after the colon)',
    ],
    ['SecRule ARGS:/a "@rx a" "id:1"', '1:14: error: The selector of ARGS does not end (near "/a")'],
    ['SecRule ARGS+X "@rx a" "id:1"', '1:13: error: Unexpected text after a variable (near "+X"; expected "|" or ":")'],
  ])('that are wrong are reported: %s', (text, problem) => {
    expect(parse(text).problems).toEqual([`main.conf:${problem}`]);
  });
});

describe('operators', () => {
  test.each([
    ['@pm a b', 'pm', false, 'a b'],
    ['!@streq  x', 'streq', true, 'x'],
    ['^plain$', 'rx', false, '^plain$'],
    ['!^plain$', 'rx', true, '^plain$'],
    ['@detectSQLi', 'detectsqli', false, ''],
    ['', 'rx', false, ''],
    ['  @rx a', 'rx', false, 'a'],
    ['  plain  ', 'rx', false, 'plain  '],
    ['! @streq x', 'streq', true, 'x'],
    ['!\t @pm a', 'pm', true, 'a'],
  ])('%o', (written, name, isNegated, argument) => {
    expect(ruleOf(`SecRule ARGS "${written}" "id:1"`).operator).toEqual({ name, isNegated, argument });
  });

  test('without a name are reported', () => {
    expect(parse('SecRule ARGS "@ x" "id:1"').problems).toEqual([
      'main.conf:1:15: error: An operator name must follow "@" (near "@ x"; expected such as @rx or @pm)',
    ]);
  });
});

describe('actions', () => {
  test('come with values, quoted values and blanks between them', () => {
    const text = `SecRule ARGS "a" "id:1, phase:2,pass , msg:'It\\'s, well', setvar:'tx.a=b,c' ,t:none"`;
    expect(ruleOf(text).actions).toEqual([
      ['id', '1'],
      ['phase', '2'],
      ['pass', null],
      ['msg', "It's, well"],
      ['setvar', 'tx.a=b,c'],
      ['t', 'none'],
    ]);
  });

  test.each([
    [`SecAction "id:1,msg:'x"`, '1:21: error: The value of msg is never closed (near "\'x"; expected a closing \')'],
    [
      `SecAction "id:1,msg:'x'y,pass"`,
      '1:24: error: Unexpected text after the action msg (near "y"; expected a comma)',
    ],
    ['SecAction "id:1,=,pass"', '1:17: error: This is not an action (near "="; expected an action name such as deny)'],
  ])('that are wrong are reported: %s', (text, problem) => {
    expect(parse(text).problems).toEqual([`main.conf:${problem}`]);
  });
});

describe('Include', () => {
  const files = {
    'a/part1.conf': 'SecMarker ONE\nInclude c/b.conf\n',
    'a/part2.conf': 'SecMarker TWO',
    'a/c/b.conf': 'SecMarker B',
    'loop.conf': 'Include loop.conf',
  };

  test('reads files in place, beside the file that includes them, patterns in order, and places name the included file', () => {
    const { directives, problems } = parse('Include a/part*\nSecMarker LAST', files);
    expect(problems).toEqual([]);
    expect(
      directives.map((one) => (one.kind === 'marker' ? `${one.label} ${one.place.file}:${one.place.line}` : '')),
    ).toEqual(['ONE a/part1.conf:1', 'B a/c/b.conf:1', 'TWO a/part2.conf:1', 'LAST main.conf:2']);
  });

  test('looks from the working directory where nothing is beside the file', () => {
    const { directives, problems } = parse('Include a/part*', { 'a/part.conf': 'Include b*', 'b.conf': 'SecMarker B' });
    expect(problems).toEqual([]);
    expect(directives).toMatchObject([{ kind: 'marker', label: 'B' }]);
  });

  test.each([
    ['Include none.conf', '1:9: error: Cannot read the included file: no such file (near "none.conf")'],
    ['Include none/*', '1:9: error: No file matches this Include (near "none/*"; expected a path that exists)'],
    ['Include', '1:1: error: Include takes exactly one path (expected one path or pattern)'],
  ])('%s is reported', (text, problem) => {
    expect(parse(text, files).problems).toEqual([`main.conf:${problem}`]);
  });

  test('of an optional pattern may find nothing', () => {
    expect(parse('IncludeOptional none/*', files).problems).toEqual([]);
  });

  test('in a circle is refused', () => {
    expect(parse('Include loop.conf', files).problems).toEqual([
      'loop.conf:1:9: error: This Include leads back to a file that is being read (near "loop.conf")',
    ]);
  });
});

test.each([
  [
    'SecRule ARGS',
    '1:13: error: SecRule takes variables, an operator and (optionally) actions (expected variables, an operator and (optionally) actions)',
  ],
  ['SecMarker A B', '1:13: error: SecMarker takes one label (near "B"; expected one label)'],
  ['SecAction', '1:10: error: SecAction takes one list of actions (expected one list of actions)'],
])('%s is refused for its number of arguments', (text, problem) => {
  expect(parse(text).problems).toEqual([`main.conf:${problem}`]);
});

test('every mistake of a file is reported, and the rules between them are still read', () => {
  const { directives, problems } = parse('SecRule ARGS "x\nSecMarker OK\nSecRule NO+ "a" "id:1"\nSecMarker\n');
  expect(problems).toHaveLength(3);
  expect(directives.filter(({ kind }) => kind === 'marker')).toHaveLength(1);
});
