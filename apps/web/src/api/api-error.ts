import type { ErrorBody } from '@sallyport/contract';

/** The server's refusal of a request, or that there was no answer (`status` 0). */
export class ApiError extends Error {
  readonly status: number;
  /** What to do about it, where the server says so. */
  readonly details: string | undefined;
  /** The object as it is now, of a 412. */
  readonly current: unknown;
  /** Its version. */
  readonly etag: string | undefined;
  /** Seconds after which it may be tried again. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    body: Partial<ErrorBody> & { current?: unknown; warning?: string },
    { retryAfter, etag }: { retryAfter?: number | undefined; etag?: string | undefined } = {},
  ) {
    super(body.error ?? `HTTP ${status}`);
    this.name = 'ApiError';
    this.status = status;
    this.details = body.details ?? body.warning;
    this.current = body.current;
    this.etag = etag;
    this.retryAfter = retryAfter;
  }
}

/**
 * The field that a refusal is about: its sentence begins with the field's name, or says that it is invalid (`Invalid webhook URL: …`).
 * undefined: it is about the whole.
 */
export const fieldOf = (message: string, fields: readonly string[]): string | undefined => {
  const [, called] = /^Invalid (\w+(?: \w+)*)[.:]/.exec(message) ?? [];
  const first = called?.toLowerCase().replaceAll(' ', '_') ?? /^[A-Za-z_]\w*/.exec(message)?.[0];
  return first !== undefined && fields.includes(first) ? first : undefined;
};
