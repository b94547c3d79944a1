import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { textOf } from './given-arena.ts';
import { hasMixedLineEnds, isStrictError, type MultipartFlags, parseMultipart } from './multipart.ts';

const parse = (body: string, contentType = 'multipart/form-data; boundary=XX', maxArguments = 100) => {
  const fields: [string, string][] = [];
  const files: [string, string, string][] = [];
  const headers: [string, string][] = [];
  const flags = parseMultipart(
    Buffer.from(body, 'latin1'),
    Buffer.from(contentType, 'latin1'),
    {
      header: (part, line) => headers.push([textOf(part.name), textOf(line)]),
      field: (part, value) => fields.push([textOf(part.name), textOf(value)]),
      file: (part, content) => files.push([textOf(part.name), textOf(part.filename), textOf(content)]),
    },
    { maxArguments, maxDepth: 1 },
  );
  return { fields, files, headers, flags };
};

const disposition = (rest: string) => `Content-Disposition: form-data; ${rest}`;
const part = (rest: string, data: string, ...more: string[]) =>
  `--XX\r\n${[disposition(rest), ...more].join('\r\n')}\r\n\r\n${data}\r\n`;
const end = '--XX--\r\n';

/** Flags that are set, besides those any body with CRLF has. */
const raised = (flags: MultipartFlags) =>
  Object.entries(flags)
    .filter(
      ([name, value]) => Boolean(value) && !['hasCrlfLine', 'unmatchedBoundary', 'filesCombinedSize'].includes(name),
    )
    .map(([name]) => name);

test('reads fields, files and part headers', () => {
  const { fields, files, headers, flags } = parse(
    part('name="a"', 'one\r\ntwo') +
      part('name="up\\"load"; filename="C:\\x\\\\y.txt"', 'data\r\n--X\r\n', 'Content-Type: text/plain') +
      part('name=token', '') +
      end,
  );
  expect(fields).toEqual([
    ['a', 'one\r\ntwo'],
    ['token', ''],
  ]);
  expect(files).toEqual([['up"load', 'C:\\x\\y.txt', 'data\r\n--X\r\n']]);
  expect(headers).toContainEqual(['up"load', 'Content-Type: text/plain']);
  expect(flags.filesCombinedSize).toBe(11);
  expect(raised(flags)).toEqual([]);
  expect(isStrictError(flags)).toBe(false);
});

test('the last boundary may end with the body', () => {
  expect(raised(parse(`${part('name="a"', '1')}--XX--`).flags)).toEqual([]);
});

describe('strictness', () => {
  test.each<[string, string, string[]]>([
    ['data before the first boundary', `x\r\n${part('name="a"', '1')}${end}`, ['hasDataBefore']],
    ['data after the last', `${part('name="a"', '1')}${end}x`, ['hasDataAfter']],
    ['LF line ends', `${part('name="a"', '1')}${end}`.replaceAll('\r', ''), ['hasLfLine']],
    ['folded header', `${part('name="a";\r\n filename="f"', '1')}${end}`, ['hasHeaderFolding']],
    [
      'header folded with another blank',
      `${part('name="a";\r\n\v filename="f"', '1')}${end}`,
      ['hasHeaderFolding', 'hasInvalidHeaderFolding'],
    ],
    ['single quotes', `${part("name='a'", '1')}${end}`, ['hasInvalidQuoting']],
    [
      'boundary where data should begin',
      `--XX\r\n${disposition('name="a"')}\r\n\r\n--XX\r\nx\r\n${end}`,
      ['hasInvalidPart'],
    ],
    ['no name', `${part('filename="f"', '1')}${end}`, ['error', 'hasInvalidPart']],
    ['no Content-Disposition', `--XX\r\nX: y\r\n\r\n1\r\n${end}`, ['error', 'hasInvalidPart']],
    ['attachment', `--XX\r\nContent-Disposition: attachment; name=a\r\n\r\n1\r\n${end}`, ['error', 'hasInvalidPart']],
    ['two names', `${part('name="a"; name="b"', '1')}${end}`, ['error']],
    ['two filenames', `${part('name="a"; filename="b"; filename="c"', '1')}${end}`, ['error']],
    ['unknown parameter', `${part('name="a"; x="b"', '1')}${end}`, ['error']],
    ['filename* alone', `${part('name="a"; filename*=utf-8\'\'b', '1')}${end}`, ['error']],
    ['filename* and filename', `${part('name="a"; filename=b; filename*=utf-8\'en\'%e2%82%ac', '1')}${end}`, []],
    ['malformed filename*', `${part('name="a"; filename=b; filename*=utf-8\'\'%e', '1')}${end}`, ['error']],
    ['space around =', `${part('name="a"; filename = "b"', '1')}${end}`, ['error']],
    ['unterminated quotes', `${part('name="a', '1')}${end}`, ['error', 'hasInvalidPart']],
    ['duplicate header', `${part('name="a"', '1', 'X: 1', 'x: 2')}${end}`, ['error']],
    ['header without colon', `${part('name="a"', '1', 'X')}${end}`, ['error']],
    ['header with a control', `${part('name="a"', '1', 'X\x01: y')}${end}`, ['error']],
    ['NUL in a header', `${part('name="a"', '1', 'X: \0')}${end}`, ['error']],
    ['long header', `${part('name="a"', '1', `X: ${'y'.repeat(5000)}`)}${end}`, ['error']],
    ['padding behind a boundary', `${part('name="a"', '1')}--XX-- \r\n`, ['error']],
    ['no end', part('name="a"', '1'), ['error']],
    ['no boundary at all', 'x', ['error', 'hasDataBefore']],
  ])('%s', (_, body, expected) => {
    const { flags } = parse(body);
    expect(raised(flags)).toEqual(expected);
    expect(isStrictError(flags)).toBe(expected.length > 0);
  });

  test('mixed line ends', () => {
    expect(hasMixedLineEnds(parse(`${part('name="a"', '1')}--XX--\n`).flags)).toBe(true);
    expect(hasMixedLineEnds(parse(`${part('name="a"', '1')}${end}`).flags)).toBe(false);
  });

  test('unmatched boundaries: 1 as long as none of ours came after', () => {
    expect(parse(part('name="a"', '--YY')).flags.unmatchedBoundary).toBe(1);
    expect(parse(part('name="a"', 'see --XX there')).flags.unmatchedBoundary).toBe(1);
    expect(parse(part('name="a"', '--YY') + end).flags.unmatchedBoundary).toBe(2);
    expect(parse('--XX\r\n').flags.unmatchedBoundary).toBe(0);
  });
});

test.each<[string, string[]]>([
  ['multipart/form-data; boundary="XX"', ['isBoundaryQuoted']],
  ['multipart/form-data boundary=XX', ['isSemicolonMissing']],
  ['multipart/form-data; boundary =XX', ['hasBoundaryWhitespace']],
  ['MULTIPART/Form-Data; boundary=XX; charset=utf-8', []],
  ['multipart/form-data; boundary="XX', ['error']],
  ['multipart/form-data; boundary=XX; boundary=YY', ['error']],
  ['multipart/form-data; Boundary=XX', ['error']],
  ['multipart/form-data; charset=x; boundary=XX', ['error']],
  ['multipart/form-data; boundary=', ['error']],
  ['multipart/form-data; boundary=X{X', ['error']],
  ['multipart/form-data', ['error']],
  ['multipart/mixed; boundary=XX', ['error']],
  [`multipart/form-data; boundary=${'X'.repeat(1100)}`, ['error']],
  ['', ['error']],
])('Content-Type %j', (contentType, expected) => {
  expect(raised(parse(`${part('name="a"', '1')}${end}`, contentType).flags)).toEqual(expected);
});

test('after an error the parts are handed over nonetheless', () => {
  expect(parse(part('nam="a"', 'one') + part('name="b"', 'two'))).toMatchObject({
    fields: [
      ['', 'one'],
      ['b', 'two\r\n'],
    ],
  });
  expect(parse(`--XX\t\r\n${disposition('name="a"')}\r\n\r\none\r\n${end}`).fields).toEqual([['a', 'one']]);
});

test('stops at the limit of parts', () => {
  const { fields, flags } = parse(part('name="a"', '1').repeat(50) + end, undefined, 10);
  expect(fields).toHaveLength(10);
  expect(flags.isTruncated).toBe(true);
});

test('finds a boundary of hundreds of characters', () => {
  const boundary = `${'-'.repeat(500)}x`;
  const body = (part('name="a"', '-'.repeat(2000)) + end).replaceAll('XX', boundary);
  expect(parse(body, `multipart/form-data; boundary=${boundary}`).fields).toEqual([['a', '-'.repeat(2000)]]);
});

test('takes any bytes, and gives no more than it took', () => {
  const piece = fc.constantFrom(
    ...['--XX', '--XX--', '\r\n', '\n', '\r', '--', 'XX', '"', "'", ';', ':', '=', ' ', '\t', '\0', '\\', '\xff', 'x'],
    ...[
      disposition('name="a"'),
      disposition('name=b; filename="c"'),
      'Content-Disposition',
      'X: y',
      '\r\n\r\n',
      '\r\n--XX\r\n',
    ],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const body = `--XX\r\n${pieces.join('')}`;
      const { fields, files, flags } = parse(body, undefined, 5);
      expect(fields.length + files.length).toBeLessThanOrEqual(5);
      const given = [...fields.map(([, value]) => value), ...files.map(([, , content]) => content)].join('');
      expect(given.length).toBeLessThanOrEqual(body.length);
      for (const value of fields) expect(body).toContain(value[1]);
      if (flags.error !== null) expect(isStrictError(flags)).toBe(true);
    }),
    { numRuns: 5000 },
  );
});

test('a line of part headers is as long as it may be, its end included', () => {
  const line = (bytes: number) =>
    parse(part('name="a"', '1', `X-Long: ${'x'.repeat(bytes - 'X-Long: \r\n'.length)}`) + end);
  expect(line(4_096).flags.error).toBeNull();
  expect(line(4_097).flags.error).toBe('Multipart: part header line over 4096 bytes long.');
});

test('a boundary that was given in quotes is not to be found with them', () => {
  const body = `${part('name="a"', 'x\r\n--"XX"\r\ny')}${end}`;
  expect(parse(body, 'multipart/form-data; boundary="XX"').flags.error).toBe('Multipart: invalid boundary (quotes).');
  expect(parse(body).flags.error).toBeNull();
  // Other lines of the kind are no boundaries.
  const other = `${part('name="a"', 'x\r\n--yXX\r\ny')}${end}`;
  expect(parse(other, 'multipart/form-data; boundary="XX"').flags.error).toBeNull();
});
