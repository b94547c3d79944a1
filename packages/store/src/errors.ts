/** A refusal that the caller can understand and act on: it becomes the response, and is never logged as a fault. */
export class Refusal extends Error {
  readonly status: number;
  readonly details: string | undefined;
  readonly warning: string | undefined;
  readonly current: object | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(status: number, message: string, more: RefusalExtras = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'Refusal';
    this.status = status;
    this.details = more.details;
    this.warning = more.warning;
    this.current = more.current;
    this.headers = more.headers;
  }
}

export interface RefusalExtras {
  /** The fault behind a 500; logged, never sent. */
  cause?: unknown;
  /** With 412: the object as it is now, as its GET would show it. */
  current?: object;
  details?: string;
  warning?: string;
  headers?: Record<string, string>;
}

const refusal =
  (status: number) =>
  (message: string, more?: RefusalExtras): Refusal =>
    new Refusal(status, message, more);

/** The error catalogue: one maker per status of the spec (Errors 2) and of contract.md. */
export const refuse = {
  invalid: refusal(400),
  unauthorized: refusal(401),
  forbidden: refusal(403),
  notFound: refusal(404),
  conflict: refusal(409),
  gone: refusal(410),
  tooLarge: refusal(413),
  unprocessable: refusal(422),
  tooMany: refusal(429),
  failed: refusal(500),
  notImplemented: refusal(501),
  unavailable: refusal(503),
  diskFull: refusal(507),
} as const;
