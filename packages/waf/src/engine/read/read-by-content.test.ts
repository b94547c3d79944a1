import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { given } from '../../../test/support/given.ts';
import { baselineRules, compile, type Verdict } from '../../index.ts';

const rules = `SecRule ARGS|ARGS_NAMES|XML:/*|XML://@* "@detectSQLi" "id:1,phase:2,deny,status:403,log,t:none,t:urlDecodeUni"
SecRule REQUEST_BODY "@contains java.lang.Runtime" "id:2,phase:2,deny,status:403,log"
SecRule FILES "@contains .." "id:3,phase:2,deny,status:403,log"
SecRule FILES_TMP_CONTENT "@contains <?php" "id:4,phase:2,deny,status:403,log"
`;
const { ruleSet } = compile([baselineRules, { path: 'rules', text: rules }]);

const judge = (type: string | null, body: string | Uint8Array, more: Record<string, string> = {}): Verdict =>
  ruleSet!.inspect(
    given.request({ method: 'POST', headers: { ...(type === null ? {} : { 'Content-Type': type }), ...more }, body }),
  );

const attack = "1' UNION SELECT password FROM users-- ";
const json = JSON.stringify({ a: attack });
const escaped = `{"a":"1\\u0027 UNION\\u0020SELECT password FROM users-- "}`;
const xml = `<a><b>${attack}</b></a>`;
const form = `q=${encodeURIComponent(attack)}&page=1`;
const parts = (...list: string[]): string => `${list.map((part) => `--x\r\n${part}\r\n`).join('')}--x--\r\n`;
const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');
const utf32 = (text: string): Buffer =>
  Buffer.concat(
    [...text].map((char) => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(char.codePointAt(0)!);
      return bytes;
    }),
  );

/** Types that no processor takes, or that name one in a way that another reader does not see. */
const types = [
  null,
  '',
  'text/plain',
  'application/octet-stream',
  'application/x-ndjson',
  'application/unheard-of',
  'application/json, text/plain',
  'application/x-www-form-urlencoded',
  'application/x-www-form-urlencoded, application/json',
  'Application/JSON5',
  ';charset=utf-8',
];

describe('a body that no processor takes', () => {
  test.each(types.flatMap((type) => [json, escaped, xml].map((body) => [type, body] as const)))(
    'of type %s is read by what it looks like: %s',
    (type, body) => expect(judge(type, body)).toMatchObject({ action: 'block', ruleId: 1 }),
  );

  test.each([null, '', 'text/plain', 'application/octet-stream', 'application/unheard-of', 'image/png'])(
    'of type %s is read as a form and as a text',
    (type) => {
      expect(judge(type, form)).toMatchObject({ ruleId: 1 });
      expect(judge(type, attack)).toMatchObject({ ruleId: 1 });
      // A NUL makes nothing of it binary.
      expect(judge(type, `${form}\0\x01`)).toMatchObject({ ruleId: 1 });
      expect(judge(type, 'x: java.lang.Runtime')).toMatchObject({ ruleId: 2 });
    },
  );

  test.each([
    ['documents one behind another', `{"a":1}\n{"b":2}\n${json}\n`],
    ['records with separators', `\x1e{"a":1}\n\x1e${json}\n`],
    ['what stands before a mistake', `${json} and the rest`],
    ['a byte order mark', `\xef\xbb\xbf${json}`],
    ['JSON5', `{a:'x\\u0027 UNION SELECT password FROM users-- ',}`],
    ['UTF-16', utf16(escaped)],
    ['UTF-16, big end first', utf16(json).swap16()],
    ['UTF-16 with a mark', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16(json)])],
    ['UTF-32', utf32(json)],
    ['text in UTF-16', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16(attack)])],
  ])('is read through %s', (_, body) => {
    expect(judge(null, body)).toMatchObject({ action: 'block', ruleId: 1 });
    expect(judge('application/x-ndjson', body)).toMatchObject({ action: 'block', ruleId: 1 });
  });

  test('of more values than are looked at is refused', () => {
    const many = `[${'1,'.repeat(1_100)}"1\\u0027 UNION SELECT password FROM users-- "]`;
    expect(judge('text/plain', many)).toMatchObject({ action: 'block', status: 400, limitsHit: ['arguments'] });
    expect(judge('text/plain', `${'['.repeat(600)}${'1'.repeat(9)}`)).toMatchObject({ action: 'block', status: 400 });
  });

  test('of texts between other bytes is read text by text', () => {
    const bytes = Buffer.concat([
      Buffer.from([0x0a, 0x04, 0, 0x12, attack.length]),
      Buffer.from(attack),
      Buffer.from([0x1a, 3, 2, 1, 0x80, 2, 1, 0, 8, 1, 9]),
    ]);
    for (const type of ['application/x-protobuf', 'application/grpc+proto', 'application/vnd.msgpack'])
      expect(judge(type, bytes)).toMatchObject({ ruleId: 1 });
  });

  test.each([
    ['application/octet-stream', Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 7_919) & 0xff))],
    ['text/plain', 'Bread & butter = breakfast, isn\'t it? He said "or so" -- and left [1].'],
    ['application/x-ndjson', '{"a":"one"}\n{"a":"two"}\n'],
    ['application/cloudevents-batch+json', '[{"type":"x"}]'],
    [null, 'name=Jane+Doe&city=K%C3%B6ln'],
    [null, ''],
  ])('of type %s passes when there is nothing in it', (type, body) => {
    expect(judge(type, body)).toMatchObject({ action: 'pass', matches: [] });
  });
});

describe('a multipart body that is no form', () => {
  const typed = (type: string, content: string, ...more: string[]): string =>
    [`Content-Type: ${type}`, ...more, '', content].join('\r\n');
  const base64 = Buffer.from(json).toString('base64');
  const quoted = escaped.replaceAll('=', '=3D').replace('UNION', '=55NION').replace('users', 'us=\r\ners');

  test.each([
    ['JSON', typed('application/json', json)],
    ['XML', typed('text/xml; charset=utf-8', xml)],
    ['a text', typed('text/plain', attack)],
    ['no headers', `\r\n${attack}`],
    ['base64', typed('application/json', base64, 'Content-Transfer-Encoding: base64')],
    ['quoted-printable', typed('application/json', quoted, 'Content-Transfer-Encoding: Quoted-Printable')],
    ['a file of JSON', typed('application/json', json, 'Content-Disposition: attachment; filename="a.json"')],
    ['a part of parts', typed('multipart/mixed; boundary="Y"', `--Y\r\n${typed('text/plain', attack)}\r\n--Y--`)],
  ])('is read part by part: %s', (_, part) => {
    for (const type of ['multipart/related; type="text/xml"; boundary="x"', 'Multipart/Mixed;boundary=x'])
      expect(judge(type, parts(typed('text/plain', 'hello'), part))).toMatchObject({ action: 'block', ruleId: 1 });
    // What an application makes of it that looks for no type.
    expect(judge(null, parts(part))).toMatchObject({ action: 'block', ruleId: 1 });
  });

  test('is read before its first boundary, behind its last, and without any', () => {
    const type = 'multipart/mixed; boundary=x';
    expect(judge(type, `${attack}\r\n${parts(typed('text/plain', 'a'))}`)).toMatchObject({ ruleId: 1 });
    expect(judge(type, `${parts(typed('text/plain', 'a'))}${attack}`)).toMatchObject({ ruleId: 1 });
    expect(judge('multipart/mixed', attack)).toMatchObject({ ruleId: 1 });
    expect(judge('multipart/mixed; boundary=other', json)).toMatchObject({ ruleId: 1 });
  });

  test('shows the names and contents of its files', () => {
    const file = (name: string, content: string) =>
      typed('application/octet-stream', content, `Content-Disposition: attachment; filename=${name}`);
    expect(judge('multipart/related; boundary=x', parts(file('"../a"', 'x')))).toMatchObject({ ruleId: 3 });
    expect(judge('multipart/related; boundary=x', parts(file('a', '<?php')))).toMatchObject({ ruleId: 4 });
  });

  test('nested without end is refused', () => {
    const nest = (depth: number): string =>
      `--b${depth}\r\nContent-Type: multipart/mixed; boundary=b${depth - 1}\r\n\r\n${depth === 0 ? 'x' : nest(depth - 1)}\r\n`;
    expect(judge('multipart/mixed; boundary=b9', nest(9))).toMatchObject({ action: 'block', status: 400 });
  });
});

describe('a part of a form', () => {
  const part = (disposition: string, type: string, content: string) =>
    parts(`Content-Disposition: form-data; ${disposition}\r\nContent-Type: ${type}\r\n\r\n${content}`);
  const send = (body: string) => judge('multipart/form-data; boundary=x', body);

  test.each(['name="a"', 'name="a"; filename="blob"'])('is read as the JSON or XML that it says it is: %s', (name) => {
    expect(send(part(name, 'application/json', escaped))).toMatchObject({ ruleId: 1 });
    expect(send(part(name, 'application/vnd.x+json; charset=utf-8', escaped))).toMatchObject({ ruleId: 1 });
    expect(send(part(name, 'text/xml', xml.replace("'", '&#39;')))).toMatchObject({ ruleId: 1 });
    expect(send(part(name, 'application/json', '{"a":"Jane"}'))).toMatchObject({ action: 'pass' });
  });

  test('may be a long file of JSON, which is read to its end', () => {
    const long = (last: string) => `[${'"a",'.repeat(30_000)}${JSON.stringify(last)}]`;
    const file = 'name="a"; filename="data.json"';
    expect(send(part(file, 'application/json', long('b')))).toMatchObject({ action: 'pass' });
    expect(send(part('name="a"', 'application/json', long('b')))).toMatchObject({ status: 400 });
  });

  test('has the name in filename* as well', () => {
    expect(send(part(`name="a"; filename="x"; filename*=UTF-8''%2e%2e%2fx`, 'text/plain', 'x'))).toMatchObject({
      ruleId: 3,
    });
  });
});

test('REQUEST_BODY is there for XML and multipart', () => {
  expect(judge('application/xml', '<java.lang.Runtime/>')).toMatchObject({ ruleId: 2 });
  const file = 'Content-Disposition: form-data; name="a"; filename="b"\r\n\r\njava.lang.Runtime';
  expect(judge('multipart/form-data; boundary=x', parts(file))).toMatchObject({ ruleId: 2 });
  const v3 = compile([{ path: 'x', text: `SecRuleEngine On\n${rules}` }], { dialect: 'modsecurity3' }).ruleSet!;
  const request = (type: string, body: string) =>
    v3.inspect(given.request({ method: 'POST', headers: { 'Content-Type': type }, body }));
  expect(request('multipart/form-data; boundary=x', parts(file))).toMatchObject({ ruleId: 2 });
  expect(request('application/json', '{"java.lang.Runtime":1}')).toMatchObject({ ruleId: 2 });
});

describe('a compressed body', () => {
  test.each([
    ['gzip', gzipSync(json)],
    ['X-GZIP', gzipSync(json)],
    ['deflate', deflateSync(json)],
    ['deflate', deflateRawSync(json)],
    ['br', brotliCompressSync(json)],
    ['zstd', zstdCompressSync(json)],
    ['gzip, identity, br', brotliCompressSync(gzipSync(json))],
  ])('is judged as what it holds: %s', (coding, body) => {
    expect(judge('application/json', body, { 'Content-Encoding': coding })).toMatchObject({ ruleId: 1 });
    expect(judge(null, body, { 'Content-Encoding': coding })).toMatchObject({ ruleId: 1 });
  });

  /** For those who undo deflate one harmless letter; what follows is for those who don't. */
  const harmlessOnceInflated = (text: string): Buffer =>
    Buffer.concat([Buffer.from([0x69, 1, 0, 0xfe, 0xff]), Buffer.from(`X${text}`)]);

  test.each([
    ['application/x-www-form-urlencoded', `&${form}`],
    ['multipart/form-data; boundary=x', `\r\n${parts(`Content-Disposition: form-data; name="q"\r\n\r\n${attack}`)}`],
    ['text/plain', `&${form}`],
  ])('is read as it was sent, too, for applications that undo no coding: %s', (type, body) => {
    expect(judge(type, harmlessOnceInflated(body), { 'Content-Encoding': 'deflate' }).action).toBe('block');
  });

  test('in the name that gzip keeps of a file', () => {
    const packed = gzipSync('q=1');
    const named = Buffer.concat([
      packed.subarray(0, 3),
      Buffer.from([8]),
      packed.subarray(4, 10),
      Buffer.from(`&${form}\0`),
    ]);
    const body = Buffer.concat([named, packed.subarray(10)]);
    const type = 'application/x-www-form-urlencoded';
    expect(judge(type, body, { 'Content-Encoding': 'gzip' })).toMatchObject({ action: 'block', ruleId: 1 });
  });

  test('that can not be undone is refused, and one that holds too much', () => {
    const send = (coding: string, body: Uint8Array) => judge('text/plain', body, { 'Content-Encoding': coding });
    expect(send('gzip', gzipSync('harmless'))).toMatchObject({ action: 'pass' });
    expect(send('gzip', Buffer.from('harmless'))).toMatchObject({ action: 'block', status: 400 });
    expect(send('gzip', gzipSync('harmless').subarray(0, 15))).toMatchObject({ action: 'block', status: 400 });
    expect(send('compress', Buffer.from('harmless'))).toMatchObject({ action: 'block', status: 400 });
    expect(send('gzip,gzip,gzip', gzipSync(gzipSync(gzipSync('a'))))).toMatchObject({ action: 'block', status: 400 });
    expect(send('gzip', gzipSync(Buffer.alloc(14_000_000)))).toMatchObject({
      action: 'block',
      status: 413,
      limitsHit: ['request_body'],
    });
  });
});

describe('the type of a body', () => {
  test.each(['utf-7', 'utf-16', 'UTF-16LE', 'ibm037', '"ibm500"', 'utf-8-sig'])(
    'with charset %s is refused',
    (charset) => {
      expect(judge(`text/plain; charset=${charset}`, 'x')).toMatchObject({ action: 'block', status: 400 });
      expect(judge(`application/json;charset = ${charset}`, '{}')).toMatchObject({ action: 'block', status: 400 });
    },
  );

  test.each(['utf-8', '"UTF-8"', 'iso-8859-15', 'windows-1252', 'us-ascii'])('may have charset %s', (charset) => {
    expect(judge(`application/json; charset=${charset}`, '{}')).toMatchObject({ action: 'pass' });
  });

  test('given twice is refused', () => {
    const request = given.request({ method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: 'x' });
    const twice = [...request.headers, [Buffer.from('content-type'), Buffer.from('application/json')] as const];
    expect(ruleSet!.inspect({ ...request, headers: twice })).toMatchObject({ action: 'block', status: 400 });
  });
});

test('more parts than are read is a refusal, also where each hides what it holds', () => {
  const base64 = Buffer.from(attack).toString('base64');
  const list = Array.from({ length: 1_100 }, () => `Content-Transfer-Encoding: base64\r\n\r\n${base64}`);
  expect(judge('multipart/mixed; boundary=x', parts(...list))).toMatchObject({ action: 'block' });
});

describe('what begins like UTF-16', () => {
  const zeros = Buffer.from('x'.repeat(32), 'utf16le');

  test.each([
    Buffer.from([0xff, 0xfe]),
    Buffer.from([0xfe, 0xff]),
    Buffer.from([0xff, 0xfe, 0, 0]),
    Buffer.concat([zeros, Buffer.from('y '.repeat(300))]),
  ])('is read as bytes, too, as most applications do: %#', (start) => {
    for (const type of [null, 'text/plain', 'application/octet-stream']) {
      expect(judge(type, Buffer.concat([start, Buffer.from(attack)]))).toMatchObject({ ruleId: 1 });
      const gadget = Buffer.concat([start, Buffer.from('java.lang.Runtime')]);
      expect(judge(type, gadget)).toMatchObject({ ruleId: 2 });
    }
  });

  test('is JSON in UTF-16 by its first two characters, whatever follows', () => {
    const text = `{"\u00e9\u4e00":1,"a":"${attack}"}`;
    expect(judge(null, utf16(text))).toMatchObject({ ruleId: 1 });
    expect(judge('application/x-www-form-urlencoded', utf16(text))).toMatchObject({ ruleId: 1 });
    expect(judge(null, utf32(text))).toMatchObject({ ruleId: 1 });
  });
});

test('JSON for lenient parsers is read as such in forms and their parts, too', () => {
  const lenient = `{x:1,"a":"1\\u0027 UNION\\u0020SELECT password FROM users-- "}`;
  const field = `Content-Disposition: form-data; name="a"\r\nContent-Type: application/json\r\n\r\n${lenient}`;
  expect(judge('application/x-www-form-urlencoded', lenient)).toMatchObject({ ruleId: 1 });
  expect(judge('multipart/form-data; boundary=x', parts(field))).toMatchObject({ ruleId: 1 });
});

describe('XML with a document type that does not say that it is XML', () => {
  const encoded = [...attack].map((char) => `&#${char.codePointAt(0)};`).join('');
  const isReadIn = (type: string, body: string) =>
    expect(judge(type, body)).toMatchObject({ action: 'block', ruleId: 1 });

  test.each(types.filter((type) => type !== null))('of type %s is read behind it', (type) => {
    isReadIn(type, `<!DOCTYPE a><a>${encoded}</a>`);
    isReadIn(type, `<!doctype a SYSTEM "http://example.com/[>"><a b="${encoded}"/>`);
    isReadIn(type, `<!DOCTYPEa><a>${encoded}</a>`);
    isReadIn(type, `<?xml version="1.0"?>\n<!DOCTYPE a PUBLIC '>' "x"><a>&other; ${encoded}</a>`);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/unheard-of'])(
    'of type %s is refused when it declares what an application would read in its place',
    (type) => {
      expect(judge(type, `<!DOCTYPE a [<!ENTITY x "${encoded}">]><a>&x;</a>`)).toMatchObject({ action: 'block' });
      expect(judge(type, '<!DOCTYPE a SYSTEM "x" [<!ATTLIST a b CDATA "c">]><a/>')).toMatchObject({ action: 'block' });
    },
  );

  test('is no reason to refuse a page or a drawing', () => {
    const page = '<!DOCTYPE html><html><body><p>Ham &amp; eggs&nbsp;&hearts;<br>to go</p></body></html>';
    for (const type of ['text/html', 'text/plain', '']) expect(judge(type, page)).toMatchObject({ action: 'pass' });
    const drawing = '<!DOCTYPE svg [<!ENTITY ns "http://www.w3.org/2000/svg">]><svg xmlns="&ns;"/>';
    const upload = `Content-Disposition: form-data; name="f"; filename="a.svg"\r\nContent-Type: image/svg+xml\r\n\r\n${drawing}`;
    expect(judge('multipart/form-data; boundary=x', parts(upload))).toMatchObject({ action: 'pass' });
  });
});

test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/unheard-of'])(
  'XML of type %s in an encoding that hides its texts is refused',
  (type) => {
    const hiding = ['', ' '.repeat(500)].map((blanks) => `<?xml version="1.0"${blanks} encoding="UTF-7"?><a>+ACc-</a>`);
    for (const body of hiding) {
      expect(judge(type, body)).toMatchObject({ action: 'block' });
      expect(judge(type, `\n${body}`)).toMatchObject({ action: 'block' });
    }
    const wide = utf16('<?xml version="1.0" encoding="UTF-16"?><a>hello</a>');
    expect(judge(type, Buffer.concat([Buffer.from([0xff, 0xfe]), wide]))).toMatchObject({ action: 'pass' });
  },
);
