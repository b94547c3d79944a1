import type { Stage } from './suite.ts';

const form = 'application/x-www-form-urlencoded';

/** The bytes that go-ftw sends for a stage: headers completed and form data encoded unless the test forbids it. */
export const toBytes = ({ input }: Stage, isOldDialect: boolean): Buffer => {
  if (input.encoded_request !== undefined) return Buffer.from(input.encoded_request, 'base64');
  if (input.raw_request !== undefined) return Buffer.from(input.raw_request);
  const isCompleted = input.autocomplete_headers ?? !(input.stop_magic ?? false);
  const headers = new Map(Object.entries(input.headers ?? {}).map(([name, value]) => [name, String(value)]));
  const find = (name: string): string | undefined => [...headers.keys()].find((key) => key.toLowerCase() === name);
  const method = input.method ?? 'GET';
  let data: Buffer = Buffer.from(typeof input.data === 'string' ? input.data : (input.data ?? []).join('\r\n'));
  if (isCompleted) {
    if (data.length > 0) {
      if (find('content-type') === undefined) headers.set('Content-Type', form);
      if (headers.get(find('content-type')!) === form) data = encodeForm(data);
    }
    if (find('connection') === undefined) headers.set('Connection', 'close');
    // Since CRS 4 a POST without data says so.
    const hasBody = data.length > 0 || (!isOldDialect && ['POST', 'PUT', 'PATCH'].includes(method));
    if (hasBody && find('content-length') === undefined) headers.set('Content-Length', String(data.length));
  }
  const line = `${method} ${input.uri ?? '/'} ${input.version ?? 'HTTP/1.1'}`;
  const head = [line, ...[...headers].map(([name, value]) => `${name}: ${value}`)].join('\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), data]);
};

/** Form data that holds no encoded byte is encoded, as go-ftw does; data that it cannot split into pairs stays as it is. */
const encodeForm = (data: Buffer): Buffer => {
  const text = data.toString();
  if (/%[0-9a-f]{2}|\+/i.test(text) || text.includes(';') || /%(?![0-9a-f]{2})/i.test(text)) return data;
  const pairs = text.split('&').filter((pair) => pair !== '');
  const values = new Map<string, string[]>();
  for (const pair of pairs) {
    const split = pair.indexOf('=');
    const name = split === -1 ? pair : pair.slice(0, split);
    values.set(name, [...(values.get(name) ?? []), split === -1 ? '' : pair.slice(split + 1)]);
  }
  const encoded = [...values]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, all]) => all.map((value) => `${escapeQuery(name)}=${escapeQuery(value)}`));
  return Buffer.from(encoded.join('&'));
};

/** Go's url.QueryEscape. */
const escapeQuery = (text: string): string =>
  encodeURIComponent(text)
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
