import type { RawHeader, WafRequest } from '@sallyport/waf';
import { CommandFailure } from './failure.ts';

const [lineFeed, carriageReturn] = [10, 13] as const;

/** Where the request is said to come from and when, since a file does not say. */
export type RequestOrigin = { readonly clientAddress: string; readonly now: number };

/**
 * Reads a request as it stands on the wire: request line, headers, an empty line, the body. Lines may end in LF alone. Throws
 * CommandFailure when there is no request line or a header has no colon.
 */
export const readRawRequest = (raw: Buffer, { clientAddress, now }: RequestOrigin): WafRequest => {
  const { lines, bodyAt } = splitHead(raw);
  const requestLine = lines[0]?.toString('latin1') ?? '';
  const found = /^(\S+) (.+?)(?: (HTTP\/\S+))?$/.exec(requestLine);
  if (found === null)
    throw new CommandFailure('the request file does not begin with a request line such as "GET / HTTP/1.1"');
  const [, method, uri, httpVersion = 'HTTP/1.1'] = found as unknown as [string, string, string, string?];
  const headers = lines.slice(1).map((line, index): RawHeader => {
    const colon = line.indexOf(':');
    if (colon < 1) throw new CommandFailure(`line ${index + 2} of the request file is not a header: it has no colon`);
    const value = line
      .subarray(colon + 1)
      .toString('latin1')
      .replace(/^[ \t]+|[ \t]+$/g, '');
    return [line.subarray(0, colon), Buffer.from(value, 'latin1')];
  });
  const body = raw.subarray(bodyAt);
  return {
    method: Buffer.from(method, 'latin1'),
    uri: Buffer.from(uri, 'latin1'),
    httpVersion: Buffer.from(httpVersion, 'latin1'),
    headers,
    body: body.length === 0 ? null : body,
    clientAddress,
    clientPort: 0,
    serverAddress: '127.0.0.1',
    serverPort: 443,
    uniqueId: 'explain',
    now,
  };
};

const splitHead = (raw: Buffer): { lines: Buffer[]; bodyAt: number } => {
  const lines: Buffer[] = [];
  let at = 0;
  while (at < raw.length) {
    const newline = raw.indexOf(lineFeed, at);
    const end = newline === -1 ? raw.length : newline;
    const line = raw.subarray(at, raw[end - 1] === carriageReturn && end > at ? end - 1 : end);
    at = newline === -1 ? raw.length : newline + 1;
    if (line.length === 0) break;
    lines.push(line);
  }
  return { lines, bodyAt: at };
};
