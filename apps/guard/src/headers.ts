import type { RawHeader } from '@sallyport/waf';

/** Flat list of names and values in turn, as Node gives and takes them. */
export type FlatHeaders = readonly string[];

/** Headers that belong to one connection (RFC 9110, 7.6.1), and how the body is framed, which is decided anew. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]);

const pairs = function* (flat: FlatHeaders): Generator<[name: string, value: string]> {
  for (let i = 0; i + 1 < flat.length; i += 2) yield [flat[i]!, flat[i + 1]!];
};

/**
 * Without the headers of this connection and those in `besides` (lower case). What `Connection` names stays: a client
 * could have any header dropped by it, such as the one that tells the origin its address.
 */
export const endToEnd = (flat: FlatHeaders, besides: ReadonlySet<string>): string[] => {
  const kept: string[] = [];
  for (const [name, value] of pairs(flat)) {
    const lower = name.toLowerCase();
    // RFC 9110, 10.1.4; gRPC servers insist on it.
    if (lower === 'te' && value.trim().toLowerCase() !== 'trailers') continue;
    if (!HOP_BY_HOP.has(lower) && !besides.has(lower)) kept.push(name, value);
  }
  return kept;
};

/** Without the headers in `besides` (lower case). */
export const withoutHeaders = (flat: FlatHeaders, besides: ReadonlySet<string>): string[] =>
  [...pairs(flat)].flatMap(([name, value]) => (besides.has(name.toLowerCase()) ? [] : [name, value]));

/** As the engine takes them; Node's strings are Latin-1. */
export const toRawHeaders = (flat: FlatHeaders): RawHeader[] =>
  [...pairs(flat)].map(([name, value]) => [Buffer.from(name, 'latin1'), Buffer.from(value, 'latin1')]);
