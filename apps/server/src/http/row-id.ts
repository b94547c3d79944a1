import { refuse } from '../errors.ts';

const MAX_ID = 2_147_483_647;

/** Reads the numeric id of a path. Throws a 400 `invalid id` for anything but a positive whole number. */
export const parseRowId = (text: string): number => {
  const id = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(id >= 1 && id <= MAX_ID)) throw refuse.invalid('invalid id');
  return id;
};
