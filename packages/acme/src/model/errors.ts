import type { Problem, Subproblem } from './objects.ts';

const lastWord = (type: string): string => type.slice(type.lastIndexOf(':') + 1);

/**
 * The CA says no, in its own words (a problem document, RFC 8555, section 6.7): `rateLimited`, `rejectedIdentifier`, `caa`…
 * Also what an order or an authorization has failed with. Lengths are bounded, control characters removed.
 */
export class AcmeProblem extends Error implements Problem {
  /** `urn:ietf:params:acme:error:rateLimited`, say; `about:blank` when the CA gave none. */
  readonly type: string;
  readonly detail: string;
  /** The HTTP status; 0 when neither the answer nor the document had one. */
  readonly status: number;
  readonly subproblems: readonly Subproblem[];
  /** Before this the CA wants to hear nothing more about it. */
  readonly retryAfter: Date | undefined;
  /** What was asked for, or has failed. */
  readonly url: string;
  /** The order or authorization at `url` has failed with it, for good; false: one request was refused, which decides nothing. */
  readonly isVerdict: boolean;

  constructor(problem: Problem, url: string, how: { retryAfter?: Date | undefined; isVerdict?: boolean } = {}) {
    super(`the CA refuses (${lastWord(problem.type)}): ${problem.detail}`);
    this.name = 'AcmeProblem';
    this.type = problem.type;
    this.detail = problem.detail;
    this.status = problem.status;
    this.subproblems = problem.subproblems;
    this.retryAfter = how.retryAfter;
    this.url = url;
    this.isVerdict = how.isVerdict ?? false;
  }

  /** Whether it is this one of RFC 8555's kinds: `is('badNonce')`. */
  is(kind: string): boolean {
    return this.type === `urn:ietf:params:acme:error:${kind}`;
  }
}

/** No answer, or one of a server that is down (5xx without a problem document): worth trying again later. */
export class AcmeUnreachable extends Error {
  readonly url: string;
  readonly retryAfter: Date | undefined;

  constructor(url: string, what: string, options: { cause?: unknown; retryAfter?: Date | undefined } = {}) {
    super(`${url}: ${what}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AcmeUnreachable';
    this.url = url;
    this.retryAfter = options.retryAfter;
  }
}

/**
 * An answer that is not ACME, or that must not be believed: garbage, too large, a redirect, a URL of another host, a certificate for
 * something else. Transports throw it for what is too large.
 */
export class AcmeProtocolError extends Error {
  readonly url: string;
  /** The HTTP status when it is an error without a problem document: 404 for an order that the CA has forgotten. */
  readonly status: number | undefined;

  constructor(url: string, what: string, options: { cause?: unknown; status?: number } = {}) {
    super(`${url}: ${what}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AcmeProtocolError';
    this.url = url;
    this.status = options.status;
  }
}

/** An order or authorization has ended otherwise than valid, and the CA gave no problem document: it expired, say. */
export class AcmeEnded extends Error {
  readonly url: string;
  readonly state: string;

  constructor(url: string, what: string, state: string) {
    super(`${what} is ${state}`);
    this.name = 'AcmeEnded';
    this.url = url;
    this.state = state;
  }
}
