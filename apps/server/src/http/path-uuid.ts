import { refuse } from '../errors.ts';
import { isUuid } from '../net/uuid.ts';

/**
 * Reads a UUID out of a path, in lower case. What is no UUID names nothing: it is refused with `message` (404), like one
 * that nobody has, so that a caller needn't tell them apart.
 */
export const uuidOrNotFound = (text: string, message: string): string => {
  if (!isUuid(text)) throw refuse.notFound(message);
  return text.toLowerCase();
};
