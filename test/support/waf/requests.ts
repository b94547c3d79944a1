import type { WafRequest } from '@sallyport/waf';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

/** Headers of a browser. What differs between visitors (version, page, session) is made from `visitor`. */
const browser = (visitor: string): (readonly [string, string])[] => [
  ['Host', 'shop.example.com'],
  [
    'User-Agent',
    `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.${visitor}.0 Safari/537.36`,
  ],
  ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'],
  ['Accept-Language', 'en-US,en;q=0.9,de;q=0.7'],
  ['Accept-Encoding', 'gzip, deflate, br'],
  ['Referer', `https://shop.example.com/catalog/shoes?page=${visitor}`],
  ['Cookie', `session=9f8a7c6d5e4b3a2f1e0d9c8b${visitor}; theme=dark; _ga=GA1.2.1234567890.${visitor}000`],
  ['Connection', 'keep-alive'],
];

export type Kind = 'GET' | 'form' | 'JSON';
export const kinds: readonly Kind[] = ['GET', 'form', 'JSON'];

/** Text of a benign request; `unique` is woven into every argument, path, cookie, Referer and User-Agent. */
export const requestText = (
  kind: Kind,
  unique: string,
): { method: string; uri: string; headers: (readonly [string, string])[]; body: string } => {
  const word = (name: string): string => `${name}${unique}`;
  if (kind === 'GET') {
    const query = `category=shoes${unique}&page=${unique}&sort=price_asc${unique}&q=red+running+${word('shoes')}&utm_source=${word('mail')}`;
    return { method: 'GET', uri: `/catalog/items/${word('a')}?${query}`, headers: browser(unique), body: '' };
  }
  const body =
    kind === 'form'
      ? `name=Jane+${word('Doe')}&email=jane.${word('doe')}%40example.com&street=${unique}+Main+Street&city=Springfield${unique}` +
        `&message=Hello%2C+could+you+please+tell+me+when+order+${unique}+will+arrive%3F+Thanks%21&newsletter=yes${unique}&size=${unique}`
      : JSON.stringify({
          user: { id: unique, name: `Jane ${word('Doe')}`, email: `${word('jane')}@example.com` },
          items: [
            { sku: word('SKU-'), quantity: Number(unique) % 97, note: `gift wrap ${unique}` },
            { sku: word('ABC-'), quantity: Number(unique) % 89, note: `leave at door ${unique}` },
          ],
          comment: `Please deliver before noon, order ${unique}`,
        });
  const type = kind === 'form' ? 'application/x-www-form-urlencoded' : 'application/json';
  const headers: (readonly [string, string])[] = [
    ...browser(unique),
    ['Content-Type', type],
    ['Content-Length', String(body.length)],
  ];
  return { method: 'POST', uri: `/checkout/contact/${unique}`, headers, body };
};

/** The same as bytes, for the engine. */
export const engineRequest = (kind: Kind, unique: string): WafRequest => {
  const { method, uri, headers, body } = requestText(kind, unique);
  return {
    method: bytes(method),
    uri: bytes(uri),
    httpVersion: bytes('HTTP/1.1'),
    headers: headers.map(([name, value]) => [bytes(name), bytes(value)]),
    body: body === '' ? null : bytes(body),
    clientAddress: '203.0.113.7',
    clientPort: 50_000,
    serverAddress: '192.0.2.1',
    serverPort: 443,
    uniqueId: `bench-${unique}`,
    now: Date.UTC(2026, 1, 1),
  };
};
