import type { RawHeader, WafRequest } from '../src/index.ts';

/** Choices that are the same for a seed. */
export const createChooser = (seed: number) => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) >>> 0;
    return (state ^ (state >>> 13)) >>> 0;
  };
  const below = (limit: number): number => next() % limit;
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  const text = (alphabet: string, length: number): string =>
    Array.from({ length }, () => alphabet[below(alphabet.length)]).join('');
  return { below, pick, text };
};
type Chooser = ReturnType<typeof createChooser>;

const hex = '0123456789abcdef';
const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const words =
  'order shoes red running blue size men women sale new price low high hello world invoice report user account city street müller o’neill naïve "quoted" it\'s 5>3 a<b x=1 50% #1 (draft) [x] {id} $5 & more; C++ node.js'.split(
    ' ',
  );

const agents = ({ below }: Chooser): readonly string[] => [
  `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${100 + below(60)}.0.${below(9999)}.${below(200)} Safari/537.36`,
  `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.${below(9)} Safari/605.1.15`,
  `Mozilla/5.0 (X11; Linux x86_64; rv:${100 + below(60)}.0) Gecko/20100101 Firefox/${100 + below(60)}.0`,
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  `okhttp/4.${below(12)}.0`,
  `Dalvik/2.1.0 (Linux; U; Android 14; Pixel ${below(9)} Build/UQ1A.240205.002)`,
  `Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)`,
  `MyApp/${below(99)} CFNetwork/1474 Darwin/23.0.0`,
];

const phrase = (choose: Chooser): string =>
  Array.from({ length: 1 + choose.below(5) }, () => choose.pick(words)).join(' ');
const query = (choose: Chooser): string =>
  Array.from(
    { length: choose.below(5) },
    () =>
      `${choose.pick(['q', 'page', 'utm_source', 'filter[price]', 'sort', 'redirect', 'ids'])}=${encodeURIComponent(phrase(choose))}`,
  ).join('&');
const jwt = ({ text }: Chooser): string =>
  `eyJhbGciOiJSUzI1NiJ9.${text(`${base64}-_`, 180)}.${text(`${base64}-_`, 86)}`;
const address = ({ below }: Chooser): string => `${below(223) + 1}.${below(256)}.${below(256)}.${below(256)}`;
const uuid = ({ text }: Chooser): string =>
  `${text(hex, 8)}-${text(hex, 4)}-4${text(hex, 3)}-a${text(hex, 3)}-${text(hex, 12)}`;

/** Headers that clients, proxies and libraries send, with values of their kind. */
const others: readonly ((choose: Chooser) => readonly [string, string])[] = [
  (c) => ['X-Forwarded-For', c.pick([address(c), `${address(c)}, ${address(c)}`, '2001:db8::17', 'unknown'])],
  (c) => ['Forwarded', `for=${address(c)};proto=https;by="[2001:db8::1]:443"`],
  () => ['X-Forwarded-Proto', 'https'],
  (c) => ['X-Forwarded-Host', c.pick(['shop.example.com', 'shop.example.com:8443'])],
  (c) => ['X-Request-ID', uuid(c)],
  (c) => ['traceparent', `00-${c.text(hex, 32)}-${c.text(hex, 16)}-01`],
  (c) => ['tracestate', `vendor=${c.text(base64, 20)},other=${c.text(hex, 8)}:${c.text(hex, 4)}`],
  (c) => ['baggage', `userId=${c.below(9999)},serverNode=DF%2028,isProduction=false`],
  (c) => ['sentry-trace', `${c.text(hex, 32)}-${c.text(hex, 16)}-1`],
  (c) => [
    'Authorization',
    c.pick([
      `Bearer ${jwt(c)}`,
      `Basic ${c.text(base64, 24)}==`,
      `Digest username="Mufasa", realm="a@b", nonce="${c.text(base64, 16)}", uri="/dir?x=<y>"`,
    ]),
  ],
  (c) => ['sec-ch-ua', `"Chromium";v="${c.below(150)}", "Not)A;Brand";v="8", "Google Chrome";v="${c.below(150)}"`],
  (c) => ['sec-ch-ua-platform', c.pick(['"Windows"', '"macOS"', '"Android"'])],
  () => ['Sec-Fetch-Site', 'same-origin'],
  () => ['Upgrade-Insecure-Requests', '1'],
  (c) => ['If-None-Match', c.pick([`W/"${c.text(hex, 12)}"`, `"${c.text(base64, 20)}--gzip"`, '*'])],
  () => ['If-Modified-Since', 'Sat, 14 Nov 2026 08:12:31 GMT'],
  (c) => ['If', `<http://shop.example.com/dav/${c.below(999)}> (<opaquelocktoken:${uuid(c)}> ["I am an ETag"])`],
  (c) => ['Destination', `http://shop.example.com/dav/${encodeURIComponent(phrase(c))}`],
  () => ['Depth', '1'],
  (c) => [
    'From',
    c.pick(['googlebot(at)googlebot.com', 'Jane Doe <jane@example.com>', '"Doe, J." <j.o\'neil@example.com>']),
  ],
  (c) => ['SOAPAction', `"http://tempuri.org/IService/${c.pick(['Get', 'Update', 'Select'])}Order"`],
  (c) => ['Origin', c.pick(['https://shop.example.com', 'null', 'https://xn--mller-kva.example'])],
  (c) => ['Range', `bytes=${c.below(1000)}-${1000 + c.below(9000)}`],
  (c) => ['Prefer', c.pick(['return=minimal', 'odata.include-annotations="*"', 'respond-async, wait=10'])],
  (c) => ['Link', `<https://shop.example.com/p?page=${c.below(99)}>; rel="next"`],
  (c) => ['X-CSRF-Token', `${c.text(`${base64}+/`, 43)}=`],
  (c) => ['X-Api-Key', c.text(base64, 40)],
  (c) => ['X-Amz-Date', `202611${10 + c.below(19)}T081231Z`],
  (c) => ['X-Client-Data', `${c.text(`${base64}+/`, 30)}=`],
  (c) => ['X-Title', encodeURIComponent(phrase(c))],
  (c) => ['X-Goog-Api-Client', `gl-node/${c.below(24)}.1.0 gccl/7.0.0`],
  (c) => ['Upload-Metadata', `filename ${c.text(base64, 24)}==,filetype aW1hZ2UvanBlZw==`],
  () => ['Content-Disposition', 'attachment; filename="a b.txt"; filename*=UTF-8\'\'a%20b.txt'],
  (c) => ['X-Datadog-Tags', `_dd.p.tid=${c.text(hex, 16)},_dd.p.dm=-1`],
  (c) => ['GraphQL-Operation', `query ${c.pick(['GetUser', 'Orders'])}($id: ID!) { user(id: $id) { name } }`],
  (c) => ['X-Template', `Hello \${name}, order \${order.${c.pick(['id', 'total'])}}`],
];

const xmlDocuments: readonly ((choose: Chooser) => string)[] = [
  (c) =>
    `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soap:Body><GetOrder xmlns="http://tempuri.org/" id="${c.below(9999)}" since="2026-11-${10 + c.below(19)}T00:00:00+01:00"><Note xsi:type="xsd:string">${escapeXml(phrase(c))}</Note></GetOrder></soap:Body></soap:Envelope>`,
  (c) =>
    `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="/style/rss.xsl"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>${escapeXml(phrase(c))}</title><atom:link href="https://shop.example.com/feed?page=${c.below(9)}&amp;sort=new" rel="self" type="application/rss+xml"/></channel></rss>`,
  (c) =>
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${c.below(99)} 24"><title>${escapeXml(phrase(c))}</title><path d="M${c.below(9)} 2C6.48 2 2 6.48 2 12s4.48 10 10 10z" style="fill:#${c.text(hex, 6)};stroke:none" transform="translate(-${c.below(50)} 4.5)"/><use href="#a${c.below(9)}"/></svg>`,
  (c) =>
    `<project xmlns="http://maven.apache.org/POM/4.0.0" xsi="http://maven.apache.org/xsd/maven-4.0.0.xsd"><version value="\${project.version}"/><repo url="file://\${project.basedir}/repo" path="../parent/pom.xml" note="${escapeXml(phrase(c))}"/></project>`,
  (c) =>
    `<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook><Cell ss:Formula="=SUM(R[-${c.below(9)}]C:R[-1]C)" ss:StyleID="s${c.below(99)}" label="${escapeXml(phrase(c))}"><Data ss:Type="Number">${c.below(999)}</Data></Cell></Workbook>`,
  (c) =>
    `<D:propfind xmlns:D="DAV:"><D:prop><C:calendar-data xmlns:C="urn:ietf:params:xml:ns:caldav" name="${escapeXml(phrase(c))}"/></D:prop></D:propfind>`,
  (c) =>
    `<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_${c.text(hex, 32)}" Destination="https://idp.example.com/sso?id=${c.below(99)}" AssertionConsumerServiceURL="https://shop.example.com/acs"/>`,
];

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const bytes = (text: string): Uint8Array => Buffer.from(text);

/** A harmless request as clients, libraries and proxies send them; every third has a document of XML. */
export const ordinaryRequest = (seed: number): WafRequest => {
  const choose = createChooser(seed);
  const body = seed % 3 === 0 ? choose.pick(xmlDocuments)(choose) : null;
  const search = query(choose);
  const headers: [string, string][] = [
    ['Host', 'shop.example.com'],
    ['User-Agent', choose.pick(agents(choose))],
    [
      'Accept',
      choose.pick([
        '*/*',
        'application/json, text/plain, */*',
        'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
      ]),
    ],
    ['Accept-Language', choose.pick(['en-US,en;q=0.9', 'de', 'fr-CH, fr;q=0.9, en;q=0.8, *;q=0.5'])],
    ['Referer', `https://shop.example.com/a/b.html${search === '' ? '' : `?${search}`}`],
    [
      'Cookie',
      `session=${choose.text(hex, 32)}; _ga=GA1.2.${choose.below(1e9)}.${choose.below(1e9)}; prefs=${encodeURIComponent(JSON.stringify({ theme: 'dark', q: phrase(choose) }))}`,
    ],
    ...Array.from({ length: 2 + choose.below(8) }, () => [...choose.pick(others)(choose)] as [string, string]),
  ];
  if (body !== null) headers.push(['Content-Type', 'application/xml'], ['Content-Length', String(bytes(body).length)]);
  return {
    method: bytes(body === null ? 'GET' : 'POST'),
    uri: bytes(`/catalog/${choose.below(9999)}${search === '' ? '' : `?${search}`}`),
    httpVersion: bytes('HTTP/1.1'),
    headers: headers.map(([name, value]): RawHeader => [bytes(name), bytes(value)]),
    body: body === null ? null : bytes(body),
    clientAddress: '203.0.113.7',
    clientPort: 50_000,
    serverAddress: '192.0.2.1',
    serverPort: 443,
    uniqueId: `ordinary-${seed}`,
    now: Date.UTC(2026, 10, 20),
  };
};
