import { AcmeEnded, AcmeProblem, AcmeProtocolError, AcmeUnreachable } from '@sallyport/acme';
import type { AcmeProblemDocument } from '@sallyport/contract';
import { Refusal } from '@sallyport/store/errors';
import { Unusable } from '../../lost-secret.ts';
import { LimitReached } from './ledger/limits.ts';

/** What came of an attempt that failed. */
export interface Failure {
  /** What it is and what to do about it, in words. */
  issue: string;
  /** The authority's own document, when it sent one. */
  problem: AcmeProblemDocument | null;
  /** Not before this. */
  notBefore: Date | undefined;
  /** The order at the authority is over: the next attempt begins another. */
  isOrderOver: boolean;
}

/** A name of an order that was not proven, as it was ordered. */
export interface Unproven {
  name: string;
  error: Error;
}

/** Whether the authority called the authorization invalid: a failed validation, of which it allows few. */
const isInvalid = ({ error }: Unproven): boolean =>
  error instanceof AcmeEnded ? error.state === 'invalid' : error instanceof AcmeProblem && error.isVerdict;

/** Names that an authority could not validate, each with why. */
export class ValidationFailed extends Error {
  readonly failures: readonly Unproven[];
  constructor(failures: readonly Unproven[]) {
    super(failures.map(({ name, error }) => `${name}: ${error.message}`).join('; '));
    this.name = 'ValidationFailed';
    this.failures = failures;
  }

  /** Those whose own authorization the authority called invalid. Other names of the order were proven, or not looked at. */
  get invalidNames(): string[] {
    return this.failures.filter(isInvalid).map(({ name }) => name);
  }
}

/** Something of ours is missing, or says no: its message tells what to do. */
export class CannotOrder extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'CannotOrder';
  }
}

/** What to do about each kind of problem (RFC 8555, section 6.7; RFC 9773). */
const ADVICE: Readonly<Record<string, string>> = {
  dns: 'look at the DNS of the name: its A and AAAA records have to lead here, or, for dns-01, its zone has to be served by the provider that is named',
  connection:
    'open port 80 from the internet to this proxy (firewall, router, load balancer), and remove an AAAA record that leads elsewhere',
  unauthorized:
    'what answered was not this proxy, or another record was found: let the name lead here, and take away a CDN or redirect before it',
  incorrectResponse:
    'what answered was not this proxy: let the name lead here, and take away a CDN or redirect before it',
  caa: 'a CAA record of the name forbids this authority: add one that names it, or order from the authority that it names',
  rateLimited: 'the authority has had too many requests: it is tried again when it allows that',
  badCSR: 'the authority does not take such a request: choose another key_type',
  badPublicKey: 'the authority does not take such a key: choose another key_type',
  rejectedIdentifier: 'the authority does not certify this name by its rules: take the name out, or order elsewhere',
  unsupportedIdentifier: 'the authority does not certify names of this kind: take the name out, or order elsewhere',
  externalAccountRequired:
    'the account has to be bound to one that you have with the authority: add an account with eab_kid and eab_hmac_key',
  userActionRequired:
    'the authority wants its terms agreed to anew: follow the link in its words, or add an account anew',
  accountDoesNotExist: 'the authority does not know the account any more: add another one, and order with it',
  serverInternal: 'the authority has a fault of its own: look at its status page',
  tls: 'the authority could not speak TLS with what the name leads to',
  badNonce: 'the authority took none of our nonces: look at its status page, and for a proxy before it that caches',
  orderNotReady: 'the authority is not done with it',
};

const kindOf = (type: string): string => type.slice(type.lastIndexOf(':') + 1);

const withAdvice = (words: string, kind: string): string => {
  const advice = ADVICE[kind];
  return advice === undefined ? words : `${words} – ${advice}`;
};

const documentOf = ({ type, detail, status, subproblems }: AcmeProblem): AcmeProblemDocument => ({
  type,
  detail,
  status: status === 0 ? null : status,
  subproblems: subproblems.map((one) => ({ ...one })),
});

const MAX_TOLD = 3;

const ofValidation = ({ failures }: ValidationFailed): Failure => {
  const problems = failures.filter(({ error }) => error instanceof AcmeProblem) as {
    name: string;
    error: AcmeProblem;
  }[];
  const [first] = problems;
  const told = failures
    .slice(0, MAX_TOLD)
    .map(
      ({ name, error }) =>
        `${name}: ${error instanceof AcmeProblem ? error.detail || kindOf(error.type) : error.message}`,
    );
  const rest = failures.length - told.length;
  const words = `The authority could not validate ${told.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`;
  return {
    issue: withAdvice(words, first ? kindOf(first.error.type) : ''),
    problem:
      (first && {
        ...documentOf(first.error),
        subproblems: problems.map(({ name, error }) => ({ name, type: error.type, detail: error.detail })),
      }) ||
      null,
    notBefore: problems
      .map(({ error }) => error.retryAfter)
      .filter((time) => time !== undefined)
      .sort((a, b) => b.getTime() - a.getTime())[0],
    isOrderOver: true,
  };
};

/** Whether the refusal of a request says nothing about the order, which can be taken up again. */
const asksForPatience = (error: AcmeProblem): boolean =>
  ['rateLimited', 'serverInternal', 'badNonce', 'orderNotReady'].some((kind) => error.is(kind)) || error.status >= 500;

const ofProblem = (error: AcmeProblem): Failure => ({
  issue: withAdvice(`The authority refuses: ${error.detail || kindOf(error.type)}`, kindOf(error.type)),
  problem: documentOf(error),
  notBefore: error.retryAfter,
  isOrderOver: error.isVerdict || !asksForPatience(error),
});

/** Tells an attempt's failure in words that say what to do. An error that is none of those is a fault of ours. */
export const explain = (error: unknown): Failure => {
  if (error instanceof ValidationFailed) return ofValidation(error);
  if (error instanceof AcmeProblem) return ofProblem(error);
  const failure = (issue: string, more: Partial<Failure> = {}): Failure => ({
    issue,
    problem: null,
    notBefore: undefined,
    isOrderOver: false,
    ...more,
  });
  if (error instanceof LimitReached) {
    return failure(`Not ordered, for the authority would refuse it: ${error.message}`, { notBefore: error.until });
  }
  if (error instanceof AcmeUnreachable) {
    return failure(
      `The authority could not be reached: ${error.message} – it is tried again; look at this machine's way out, and at the authority's status page`,
      { notBefore: error.retryAfter },
    );
  }
  if (error instanceof AcmeProtocolError) {
    return failure(
      `The authority answered what can not be believed: ${error.message} – look at the account's directory_url, and at what stands between`,
      { isOrderOver: true },
    );
  }
  if (error instanceof AcmeEnded)
    return failure(`At the authority ${error.message}: another order is made`, { isOrderOver: true });
  if (error instanceof CannotOrder || error instanceof Unusable) return failure(error.message);
  if (error instanceof Refusal)
    return failure(`What the authority gave is not taken: ${error.message}`, { isOrderOver: true });
  if ((error as Error).name === 'DnsWriteFailed') {
    return failure(`The record that proves the names could not be written: ${(error as Error).message}`);
  }
  return failure(`It failed for a reason of our own: ${(error as Error).message}`);
};
