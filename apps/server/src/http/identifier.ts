import type { Identifier } from '@sallyport/store/database/identifier';
import { refuse } from '@sallyport/store/errors';
import { isUuid } from '../net/uuid.ts';

const MAX_ID = 2_147_483_647;

/** Reads the numeric id of a path. Throws a 400 `invalid id` for anything but a positive whole number. */
export const parseRowId = (text: string): number => {
  const id = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(id >= 1 && id <= MAX_ID)) throw refuse.invalid('invalid id');
  return id;
};

/** Reads what names an object in a path: its integer id or its uuid. Throws a 400 `invalid id` for anything else. */
export const parseIdentifier = (text: string): Identifier => (isUuid(text) ? text.toLowerCase() : parseRowId(text));
