import { PASSWORD_MIN_LENGTH } from '@sallyport/contract';
import { refuse } from '../errors.ts';

/**
 * Checks a password that is being chosen. Throws a 400 that names `field`.
 * Length is what counts (NIST SP 800-63B, section 5.1.1.2); no rules about kinds of characters.
 */
export const checkNewPassword = (password: string, email: string, field = 'password'): void => {
  // The schema counts UTF-16 units; a password is as long as its characters.
  if ([...password.normalize('NFKC')].length < PASSWORD_MIN_LENGTH) {
    throw refuse.invalid(`${field} must be at least ${PASSWORD_MIN_LENGTH} characters long`);
  }
  if (password.toLowerCase() === email) throw refuse.invalid(`${field} must not be the e-mail address`);
};
