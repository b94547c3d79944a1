/** Header name and value exactly as received, bytes, order and repetition kept. */
export type RawHeader = readonly [name: Uint8Array, value: Uint8Array];

/** One rule, or one target of it, left out for this request only. */
export type RequestExclusion = {
  /** Absent: the target is left out of all rules; without a target nothing is. */
  readonly ruleId?: number;
  /** A SecLang target such as `ARGS:comment` or `REQUEST_COOKIES:/^_ga/`; absent: the whole rule. One that does not parse excludes nothing. */
  readonly target?: string;
};

/** A request as it came off the wire. Nothing is decoded: decoding is what attackers play with. */
export type WafRequest = {
  readonly method: Uint8Array;
  /** The request target as sent: path and query, or an absolute URI. */
  readonly uri: Uint8Array;
  /** As in the request line, e.g. `HTTP/1.1`. */
  readonly httpVersion: Uint8Array;
  readonly headers: readonly RawHeader[];
  /** The body after transfer decoding, or null when there is none. */
  readonly body: Uint8Array | null;
  /** True when `body` is only the first part of what the client sent; INBOUND_DATA_ERROR is then 1. */
  readonly bodyTruncated?: boolean;
  readonly clientAddress: string;
  readonly clientPort: number;
  readonly serverAddress: string;
  readonly serverPort: number;
  readonly uniqueId: string;
  /** Milliseconds since the epoch; the engine has no clock of its own. */
  readonly now: number;
  readonly exclusions?: readonly RequestExclusion[];
  /** TX variables (names in lower case) that have these values whatever rules set them to, such as CRS's settings for one host. */
  readonly settings?: Readonly<Record<string, string>>;
};

/** An origin's response as it came off the wire. */
export type WafResponse = {
  readonly status: number;
  /** As in the status line; default `HTTP/1.1`. */
  readonly httpVersion?: string;
  readonly headers: readonly RawHeader[];
  /** The body after transfer and content decoding, or null when it was not read. */
  readonly body: Uint8Array | null;
  readonly bodyTruncated?: boolean;
};
