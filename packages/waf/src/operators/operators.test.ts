import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findBytes, occurrences } from '../bytes/find-bytes.ts';
import type { OperatorContext, OperatorEnv } from './operator.ts';
import { compileOperator, macroOperators, matchDynamic, operatorNames } from './registry.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

const createContext = () => {
  const captures: string[] = [];
  const geo: (Record<string, string> | null)[] = [];
  const context: OperatorContext = {
    wantsCapture: true,
    budget: { units: 1_000_000, exceeded: false },
    capture: (index, buf, start, end) => {
      captures[index] = Buffer.from(buf.subarray(start, end)).toString('latin1');
    },
    geo: (result) => geo.push(result),
  };
  return { context, captures, geo };
};

const files: Record<string, string> = {
  'phrases.data': '# comment\n\n  # indented comment\nCannot cast \nevil#phrase\r\n',
  'addresses.txt': '10.0.0.0/8 # office\n\n2001:db8::/32\n',
};
files['returns.data'] = 'a\rb\ncd\r\n';
const env: OperatorEnv = {
  readFile: (path) => {
    const content = files[path];
    if (content === undefined) throw new Error(`no such file: ${path}`);
    return bytes(content);
  },
};

const run = (name: string, argument: string, value: string, withEnv: OperatorEnv = env): boolean => {
  const buf = bytes(`<${value}>`);
  return compileOperator(name, argument, withEnv).match(buf, 1, buf.length - 1, createContext().context);
};

test.each<[string, string, string, boolean]>([
  ['pm', '"foo|3a 20|bar" x', 'XX FOO: BAR', true],
  ['pm', 'a\\;b c', 'xa;bx', true],
  ['pm', '|zz| b', 'a|ZZ|', true],
  ['pm', '|41 42|c x', 'an ABC', true],
  ['pm', '|41 42|c x', 'an AB', false],
  ['pm', '|41 42|c', 'only c', false],
  // Blanks between phrases are no phrase, which would be in everything.
  ['pm', ' |3a|  ;   |3b| ', 'nothing', false],
  ['pm', 'a   b', 'nothing', false],
  ['pm', '"', 'a"b', true],
  ['pmFromFile', 'returns.data', 'a\rb', true],
  ['pmFromFile', 'returns.data', 'ab', false],
  ['pmFromFile', 'returns.data', 'cd', true],
  ['pmFromFile', 'phrases.data', 'PHP: cannot CAST to', true],
  ['pmFromFile', 'phrases.data', 'PHP: cannot cast', false],
  ['pmf', 'phrases.data', '# comment', false],
  ['pmf', 'phrases.data', 'evil#phrase', true],
  ['ipMatch', '127.0.0.1, ::1 ,10.0.0.0/8', '::ffff:10.2.3.4', true],
  ['ipMatch', '::ffff:10.0.0.0/104', '10.200.0.1', true],
  ['ipMatch', '::/0', '10.0.0.1', false],
  ['ipMatch', '0.0.0.0/0', '255.255.255.255', true],
  ['ipMatch', '10.0.0.0/8', '10.0.0.01', false],
  ['ipMatch', '10.0.0.0/8', '10.0.0.1.', false],
  ['ipMatch', '1::/16', '1::2:3:4:5:6:7:8', false],
  ['ipMatchFromFile', 'addresses.txt', '2001:DB8::5', true],
  ['ipMatchF', 'addresses.txt', '11.0.0.1', false],
  ['validateByteRange', '9,10,13,32-126', 'ab\x7f', true],
  ['validateUtf8Encoding', '', '\xf4\x90\x80\x80', true],
  ['validateUtf8Encoding', '', '\xed\xa0\x80', true],
  ['validateUtf8Encoding', '', '\xc0\xaf', true],
  ['validateUtf8Encoding', '', '\xf0\x9f\x98\x80\xe2\x82\xac', false],
  ['ge', '5', ' +7abc', true],
  ['gt', '100', '99999999999999999999999999', true],
  ['lt', '0', '-3', true],
  ['within', 'GET POST', '', true],
  ['containsWord', 'ab', 'xab ab', true],
  ['verifyCC', '\\d{13,16}', 'card 4012888888881882 or 4012888888881881.', true],
  ['verifyCPF', '[\\d.-]{11,14}', '111.111.111-11', false],
  ['verifyCC', '\\d+', '4012888888881882', false],
  // A match without a digit has no number in it.
  ['verifyCC', '[a-z]+', 'card', false],
  ['verifyCPF', '[\\d.-]{11,14}', '529.982.247-25', true],
  ['verifyCPF', '\\d{11}', '12345678909', true],
  ['verifyCPF', '\\d{11}', '52998224726', false],
  ['verifyCPF', '\\d{11}', '52998224735', false],
  ['verifyCPF', '\\d{10}', '5299822472', false],
  // Right by its checks, and nobody's.
  ['verifyCPF', '\\d{11}', '01234567890', false],
  ['verifySSN', '\\d{9}', '078051120', true],
  ['verifySSN', '\\d{9}', '739123456', true],
  ['verifySSN', '\\d{9}', '740123456', false],
  ['verifySSN', '\\d{9}', '666123456', false],
  ['verifySSN', '\\d{9}', '000123456', false],
  ['verifySSN', '\\d{9}', '123004567', false],
  ['verifySSN', '\\d{9}', '123450000', false],
  ['verifySSN', '\\d{9}', '123456789', false],
  ['verifySSN', '\\d{9}', '111111111', false],
  ['verifySSN', '\\d{8,10}', '07805112', false],
  ['verifySVNR', '\\d{10}', '1237010180', true],
  ['verifySVNR', '\\d{10}', '1238010180', false],
  // The check would be ten.
  ['verifySVNR', '\\d{10}', '1000010180', true],
  ['verifySVNR', '\\d{10}', '0000000000', false],
  ['verifySVNR', '\\d{9}', '123701018', false],
  ['validateNid', 'cl [\\d.]+-[\\dkK]', '12.345.678-5', true],
  ['validateNid', 'cl [\\d.]+-[\\dkK]', '12.345.678-4', false],
  ['validateNid', 'cl [\\d.]+-[\\dkK]', '10000013-k', true],
  ['validateNid', 'cl [\\d.]+-[\\dkK]', '10000004-0', true],
  ['validateNid', 'cl [\\d.]+-[\\dkK]', '123456-0', false],
  ['validateNid', 'us \\d{9}', '078051120', true],
  ['validateNid', 'us \\d{9}', '666123456', false],
  ['rbl', 'dnsbl.example.org', '192.0.2.1', false],
])('@%s %j on %j: %s', (name, argument, value, verdict) => {
  expect(run(name, argument, value)).toBe(verdict);
});

test.each<[string, string, string]>([
  ['ipMatch', '10.0.0.0/33', '"10.0.0.0/33"'],
  ['ipMatch', '10.0.0.300', '"10.0.0.300"'],
  ['ipMatch', '10.0.0.0/-8', '"10.0.0.0/-8"'],
  ['ipMatch', '10.0.0.0/+08', '"10.0.0.0/+08"'],
  ['ipMatch', '10.0.0.0/8x', '"10.0.0.0/8x"'],
  ['ipMatch', '10.0.0.0/', '"10.0.0.0/"'],
  ['ipMatch', '10.0.0.0/8/8', '"10.0.0.0/8/8"'],
  ['ipMatch', '2001:db8::/129', '"2001:db8::/129"'],
  ['ipMatch', '::ffff:10.0.0.0/95', 'more than the IPv4-mapped'],
  ['ipMatch', '', 'at least one'],
  ['ipMatchFromFile', 'none.txt', 'no such file: none.txt'],
  ['pmFromFile', 'none.data', 'no such file: none.data'],
  ['pm', '', 'at least one phrase'],
  ['validateByteRange', '1-300', '"1-300"'],
  ['validateByteRange', '20-10', '"20-10"'],
  ['verifyCC', '(', 'verifyCC: '],
  ['verifySSN', '(.)\\1', 'no back-references'],
  ['rbl', 'not a domain', '"not a domain"'],
  ['inspectFile', '/bin/x', 'runs a program'],
  ['fuzzyHash', 'x', 'ssdeep'],
  ['streqq', 'x', 'no operator @streqq'],
])('refuses @%s %j, saying %j', (name, argument, message) => {
  expect(() => compileOperator(name, argument, env)).toThrow(message);
});

test('an operator that cannot do its work as configured says so', () => {
  expect(compileOperator('rbl', 'dnsbl.example.org', env).warning).toMatch('resolver');
  expect(compileOperator('geoLookup', '', env).warning).toMatch('country database');
});

test('rbl answers from what was resolved before, and captures the address', () => {
  const listed = new Set(['192.0.2.1']);
  const operator = compileOperator('rbl', 'dnsbl.example.org', {
    ...env,
    blockList: (zone, address) => (zone === 'dnsbl.example.org' ? listed.has(address) : undefined),
  });
  const { context, captures } = createContext();
  expect(operator.match(bytes('192.0.2.2'), 0, 9, context)).toBe(false);
  expect(operator.match(bytes('192.0.2.1'), 0, 9, context)).toBe(true);
  expect(captures).toEqual(['192.0.2.1']);
});

test('geoLookup hands over what the database knows', () => {
  const operator = compileOperator('geoLookup', '', {
    ...env,
    geo: (address) => (address === '192.0.2.1' ? { COUNTRY_CODE: 'NL' } : null),
  });
  const { context, geo } = createContext();
  expect(operator.match(bytes('192.0.2.1'), 0, 9, context)).toBe(true);
  expect(operator.match(bytes('192.0.2.9'), 0, 9, context)).toBe(false);
  expect(geo).toEqual([{ COUNTRY_CODE: 'NL' }, null]);
});

test('pm captures the phrase, verifyCC the number', () => {
  const { context, captures } = createContext();
  const text = bytes('pay with 4012888888881881 ok');
  compileOperator('pm', 'xyz WITH', env).match(text, 0, text.length, context);
  expect(captures[0]).toBe('WITH');
  compileOperator('verifyCC', '\\d{13,16}', env).match(text, 0, text.length, context);
  expect(captures[0]).toBe('4012888888881881');
});

test('a search for numbers stops with its budget', () => {
  const { context } = createContext();
  context.budget.units = 1000;
  const text = bytes('1234567890123 '.repeat(10_000));
  expect(compileOperator('verifyCC', '\\d{13}', env).match(text, 0, text.length, context)).toBe(false);
  expect(context.budget.exceeded).toBe(true);
});

describe('macro operators', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '1', '0', ' ', '-'), maxLength: 8 });

  test.each([...macroOperators])('%s answers with an expanded argument as with a written one', (name) => {
    fc.assert(
      fc.property(text, text, (argument, value) => {
        const { context } = createContext();
        const buf = bytes(value);
        const isStatic = compileOperator(name, argument, env).match(buf, 0, buf.length, context);
        expect(matchDynamic(name, bytes(argument), buf, 0, buf.length, context)).toBe(isStatic);
      }),
    );
  });

  test('others are refused', () => {
    const { context } = createContext();
    expect(() => matchDynamic('pm', bytes('a'), bytes('a'), 0, 1, context)).toThrow('no macros');
  });
});

test('every listed name compiles in any case', () => {
  const argument: Record<string, string> = {
    ipmatch: '::1',
    ipmatchf: 'addresses.txt',
    ipmatchfromfile: 'addresses.txt',
    pmf: 'phrases.data',
    pmfromfile: 'phrases.data',
    rbl: 'a.example',
    validatebyterange: '1-2',
    validatenid: 'us \\d+',
  };
  for (const name of operatorNames) {
    expect(() => compileOperator(name.toUpperCase(), argument[name.toLowerCase()] ?? 'x', env)).not.toThrow();
  }
});

test('findBytes finds what indexOf finds, for short needles and long', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 60 });
  fc.assert(
    fc.property(letters, letters, (text, needle) => {
      expect(findBytes(bytes(text), 0, text.length, bytes(needle))).toBe(text.indexOf(needle));
    }),
    { numRuns: 2000 },
  );
});

test('occurrences finds overlapping ones', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 40 });
  fc.assert(
    fc.property(letters, letters, (text, needle) => {
      if (needle === '') return;
      const expected = Array.from(text, (_, at) => at).filter((at) => text.startsWith(needle, at));
      expect([...occurrences(bytes(text), 0, text.length, bytes(needle))]).toEqual(expected);
    }),
    { numRuns: 2000 },
  );
});
