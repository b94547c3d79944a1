/**
 * Where an inspected value came from. Variables are views over sources: a query argument is stored once and seen as ARGS and
 * as ARGS_GET, so it is scanned once for the rules of both.
 */
export const sources = [
  'queryArgument',
  'bodyArgument',
  'queryArgumentName',
  'bodyArgumentName',
  'requestHeader',
  'requestHeaderName',
  'cookie',
  'cookieName',
  'file',
  'fileName',
  'fileSize',
  'fileContent',
  'multipartFilename',
  'multipartName',
  'multipartPartHeader',
  'xmlText',
  'xmlAttribute',
  'requestMethod',
  'requestProtocol',
  'requestUri',
  'requestUriRaw',
  'requestLine',
  'requestFilename',
  'requestBasename',
  'queryString',
  'requestBody',
  'responseHeader',
  'responseHeaderName',
  'responseBody',
  'responseProtocol',
  'statusLine',
] as const;

export type SourceName = (typeof sources)[number];

/** Index of a source in `sources`. */
export const sourceId = (name: SourceName): number => sources.indexOf(name);
/** Whether values of this source come with a response. */
export const isResponseSource = (source: number): boolean => source >= sources.indexOf('responseHeader');
const BODY: ReadonlySet<SourceName> = new Set([
  'bodyArgument',
  'bodyArgumentName',
  'file',
  'fileName',
  'fileSize',
  'fileContent',
  'multipartFilename',
  'multipartName',
  'multipartPartHeader',
  'xmlText',
  'xmlAttribute',
  'requestBody',
]);
/** The first phase in which there are values of this source. */
export const firstPhaseOf = (source: number): 1 | 2 | 3 | 4 => {
  const name = sources[source]!;
  if (name === 'responseBody') return 4;
  if (isResponseSource(source)) return 3;
  return BODY.has(name) ? 2 : 1;
};
export const sourceCount = sources.length;

/** One value of a transaction: bytes [start, end) of `buf`, with the name it was sent under. */
export type Entry = {
  /** Position among all values of the transaction. */
  readonly index: number;
  readonly source: number;
  /** As sent, Latin-1; empty for scalars. */
  readonly name: string;
  /** `name` in lower case. */
  readonly key: string;
  readonly buf: Uint8Array;
  readonly start: number;
  readonly end: number;
};
