import { AcmeEnded, AcmeProblem } from '../model/errors.ts';
import type { Authorization } from '../model/objects.ts';

/**
 * Why an authorization has come to nothing: the CA's own problem where it called it invalid and says why, else `AcmeEnded` with its status.
 * Only `invalid` is a failed validation (RFC 8555, section 7.1.4); one that expired or was deactivated has validated nothing.
 */
export const authorizationFailure = ({ url, name, status, challenges }: Authorization): AcmeProblem | AcmeEnded => {
  const error = challenges.find((challenge) => challenge.error !== undefined)?.error;
  return error && status === 'invalid'
    ? new AcmeProblem(error, url, { isVerdict: true })
    : new AcmeEnded(url, `the authorization for ${name}`, status);
};
