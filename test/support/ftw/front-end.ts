import type { RawHeader, WafRequest } from '@sallyport/waf';

/** A request as a web server in front of the engine would hand it over, or its refusal to. `isIncomplete`: the server waits for more, or answers what is no answer. */
export type FrontEndAnswer = {
  readonly request: WafRequest;
  readonly isRefused: boolean;
  readonly isIncomplete: boolean;
};

const [lineFeed, carriageReturn, space] = [10, 13, 32] as const;

/**
 * Reads raw bytes the way Apache does: leniently enough that the engine always gets something to judge. `isRefused` says that a
 * strict server answers 400 by itself.
 */
export const readRequest = (raw: Buffer, now: number): FrontEndAnswer => {
  const { lines, bodyAt } = splitHead(raw);
  const line = readRequestLine(lines[0] ?? Buffer.alloc(0));
  let isRefused = line.isRefused;
  const headers: RawHeader[] = [];
  for (const headerLine of lines.slice(1)) {
    const colon = headerLine.indexOf(0x3a);
    const name = headerLine.subarray(0, Math.max(0, colon));
    if (colon <= 0 || !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name.toString('latin1'))) {
      isRefused = true;
      continue;
    }
    const value = trim(headerLine.subarray(colon + 1));
    if (/[\0\r\n]/.test(value.toString('latin1'))) isRefused = true;
    headers.push([name, value]);
  }
  const body = readBody(headers, raw.subarray(bodyAt));
  const isChunked = headerNamed(headers, 'transfer-encoding') !== undefined;
  return {
    isRefused: isRefused || body.isRefused || isBadHost(headers, line.httpVersion),
    // An HTTP/0.9 answer has no head, which a test runner cannot read.
    isIncomplete: body.isIncomplete || latin1(line.httpVersion) === 'HTTP/0.9',
    request: {
      method: line.method,
      uri: line.uri,
      httpVersion: line.httpVersion,
      headers: mergeHeaders(headers.filter(([name]) => !isChunked || latin1(name).toLowerCase() !== 'content-length')),
      body: body.bytes,
      clientAddress: '127.0.0.1',
      clientPort: 40_000,
      serverAddress: '127.0.0.1',
      serverPort: 80,
      uniqueId: 'crs-test',
      now,
    },
  };
};

const splitHead = (raw: Buffer): { lines: Buffer[]; bodyAt: number } => {
  const lines: Buffer[] = [];
  let at = 0;
  while (at < raw.length) {
    let end = raw.indexOf(lineFeed, at);
    if (end === -1) end = raw.length;
    const isCrlf = end > at && raw[end - 1] === carriageReturn;
    const line = raw.subarray(at, isCrlf ? end - 1 : end);
    at = Math.min(end + 1, raw.length);
    if (line.length === 0) break;
    lines.push(line);
  }
  return { lines, bodyAt: at };
};

const readRequestLine = (line: Buffer): { method: Buffer; uri: Buffer; httpVersion: Buffer; isRefused: boolean } => {
  const text = line.toString('latin1');
  const trimmed = line.subarray(text.length - text.trimStart().length);
  const first = trimmed.indexOf(space);
  const last = trimmed.lastIndexOf(space);
  const method = first === -1 ? trimmed : trimmed.subarray(0, first);
  const uri = first === -1 ? Buffer.alloc(0) : trimmed.subarray(first + 1, last > first ? last : trimmed.length);
  const version = last > first ? trimmed.subarray(last + 1) : Buffer.alloc(0);
  const httpVersion = version.length === 0 ? Buffer.from('HTTP/0.9') : version;
  const isGood =
    /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(method.toString('latin1')) &&
    /^(?:\/|\*$|[a-z][a-z0-9+.-]*:\/\/|[^/\s\\]+:\d+$)[!-~\x80-\xff]*$/i.test(uri.toString('latin1')) &&
    !/[\\"<>#]|%(?![0-9a-f]{2})|%00|%2f/i.test(uri.toString('latin1').split('?')[0]!) &&
    !/[\s"<>#]/.test(uri.toString('latin1')) &&
    /^HTTP\/\d\.\d$/.test(httpVersion.toString('latin1'));
  return { method, uri, httpVersion, isRefused: trimmed.length !== line.length || !isGood };
};

const trim = (value: Buffer): Buffer => {
  let start = 0;
  let end = value.length;
  while (start < end && (value[start] === space || value[start] === 9)) start++;
  while (end > start && (value[end - 1] === space || value[end - 1] === 9)) end--;
  return value.subarray(start, end);
};

const headerNamed = (headers: readonly RawHeader[], name: string): string | undefined => {
  const found = headers.find(([key]) => Buffer.from(key).toString('latin1').toLowerCase() === name);
  return found === undefined ? undefined : Buffer.from(found[1]).toString('latin1');
};

const isBadHost = (headers: readonly RawHeader[], version: Buffer): boolean => {
  const host = headerNamed(headers, 'host');
  if (host === undefined) return version.toString('latin1') === 'HTTP/1.1';
  return host === '' || /[^\w.:[\]-]/.test(host);
};

/** Headers of the same name become one, as Apache makes them. */
const mergeHeaders = (headers: readonly RawHeader[]): RawHeader[] => {
  const merged = new Map<string, [Uint8Array, Buffer]>();
  for (const [name, value] of headers) {
    const known = merged.get(latin1(name).toLowerCase());
    if (known === undefined) merged.set(latin1(name).toLowerCase(), [name, Buffer.from(value)]);
    else known[1] = Buffer.concat([known[1], Buffer.from(', '), value]);
  }
  return [...merged.values()];
};

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

type Body = { readonly bytes: Buffer | null; readonly isRefused: boolean; readonly isIncomplete: boolean };

const readBody = (headers: readonly RawHeader[], rest: Buffer): Body => {
  const length = headerNamed(headers, 'content-length');
  if (/chunked/i.test(headerNamed(headers, 'transfer-encoding') ?? '')) {
    return { bytes: decodeChunks(rest), isRefused: false, isIncomplete: false };
  }
  if (length === undefined) return { bytes: null, isRefused: false, isIncomplete: false };
  if (!/^\d+$/.test(length)) return { bytes: rest, isRefused: true, isIncomplete: false };
  return { bytes: rest.subarray(0, Number(length)), isRefused: false, isIncomplete: rest.length < Number(length) };
};

const decodeChunks = (rest: Buffer): Buffer => {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = rest.indexOf('\r\n', at);
    const size = end === -1 ? Number.NaN : Number.parseInt(rest.subarray(at, end).toString('latin1'), 16);
    if (!(size > 0)) return Buffer.concat(parts);
    parts.push(rest.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
};
