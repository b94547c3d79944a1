import { AcmeProblem, AcmeProtocolError, AcmeUnreachable } from '@sallyport/acme';
import { type Refusal, refuse } from '@sallyport/store/errors';

/** Kinds of problems (RFC 8555, section 6.7) by the field that has to be attended to. */
const FIELDS: Readonly<Record<string, string>> = {
  externalAccountRequired: 'eab_kid',
  invalidContact: 'email',
  unsupportedContact: 'email',
  userActionRequired: 'terms_agreed',
};

/** What authorities say of a binding that is wrong; pebble, Let's Encrypt's Boulder and step-ca use different kinds. */
const isAboutBinding = (problem: AcmeProblem): boolean =>
  problem.is('unauthorized') || problem.is('malformed') || problem.is('externalAccountRequired');

const fieldOf = (problem: AcmeProblem, hasBinding: boolean): string => {
  if (hasBinding && isAboutBinding(problem))
    return /hmac|signature|verif/i.test(problem.detail) ? 'eab_hmac_key' : 'eab_kid';
  return FIELDS[problem.type.slice(problem.type.lastIndexOf(':') + 1)] ?? 'directory_url';
};

/** Why an account could not be registered, as a 400 that names the field and has the authority's own words. */
export const refusalOfRegistration = (error: unknown, hasBinding: boolean): Refusal | undefined => {
  if (error instanceof AcmeProblem) {
    const field = fieldOf(error, hasBinding);
    return refuse.invalid(`${field}: the authority refuses the account: ${error.detail || error.type}`, {
      details: error.type,
    });
  }
  if (error instanceof AcmeUnreachable || error instanceof AcmeProtocolError) {
    return refuse.invalid(`directory_url: the authority could not be spoken to: ${error.message}`);
  }
  if ((error as Error).name === 'TimeoutError') {
    return refuse.invalid('directory_url: the authority did not answer in time');
  }
  return undefined;
};
