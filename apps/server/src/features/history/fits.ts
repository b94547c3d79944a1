import { refuse } from '@sallyport/store/errors';
import { type Change, isAsChanged, isSame, type State } from '@sallyport/store/history/state';
import type { Undoing } from '../reverter.ts';

/** Tells who changed an object since: all of it, or one of the fields. */
export type TellSince = (fields?: readonly string[]) => Promise<string>;

const differing = (current: State, after: State): string[] =>
  Object.keys(after).filter((field) => !isAsChanged(current[field], after[field]));

/** What takes a change back, whatever has become of its object. */
export const undoingOf = (key: string, { before, after }: Change): Undoing => {
  if (before && after) return { does: 'update', key, fields: before };
  return before ? { does: 'restore', key, state: before } : { does: 'remove', key };
};

/**
 * Throws a 409 when the object is no longer what a change made of it, as far as the change went: what others did since
 * must not get lost. Other fields may have been changed.
 */
export const checkUnchanged = async (
  { before, after }: Change,
  current: object | undefined,
  since: TellSince,
): Promise<void> => {
  if (!after) {
    if (current) throw refuse.conflict('It is there again', { details: await since() });
    return;
  }
  if (!current) throw refuse.conflict('It has been deleted since', { details: await since() });
  const now = current as State;
  if (before && Object.keys(before).every((field) => isSame(now[field] ?? null, before[field]))) {
    throw refuse.conflict('It is as it was before this change already', { details: await since(Object.keys(before)) });
  }
  const fields = differing(now, after);
  if (fields.length === 0) return;
  throw refuse.conflict(`It has been changed since: ${fields.join(', ')}`, { details: await since(fields) });
};
