import { refuse } from '../../errors.ts';
import { parseEmail } from '../../names/email-address.ts';

/** Normalises an e-mail address of a body. Throws a 400 that names `field`. */
export const readEmail = (text: string, field = 'email'): string => {
  try {
    return parseEmail(text);
  } catch (error) {
    throw refuse.invalid(`${field} ${(error as Error).message}`);
  }
};
