/** An HTTP request to a CA. */
export interface AcmeRequest {
  method: 'GET' | 'HEAD' | 'POST';
  /** Always https, and of the directory's host and port. */
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** Ends with the request's time limit, or when the caller gives up. */
  signal: AbortSignal;
}

export interface AcmeResponse {
  status: number;
  headers: { get(name: string): string | null | undefined };
  body: string;
}

/**
 * Makes one request and returns whatever answer comes. It follows no redirect, stops reading after `limits.answerBytes` (and throws
 * `AcmeProtocolError` then), verifies the server's certificate, and decides which addresses may be reached at all.
 */
export type AcmeTransport = (request: AcmeRequest) => Promise<AcmeResponse>;
