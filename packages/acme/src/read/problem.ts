import type { Problem } from '../model/objects.ts';
import { isObject, type JsonObject, member } from './json.ts';
import { readText } from './text.ts';

const MAX_TYPE = 200;
const MAX_DETAIL = 2_000;
const MAX_SUBPROBLEMS = 100;

const readType = (value: unknown): string => readText(value, MAX_TYPE) || 'about:blank';

const nameOf = (subproblem: JsonObject): string => {
  const identifier = member(subproblem, 'identifier');
  return isObject(identifier) ? readText(member(identifier, 'value'), 255) : '';
};

/** A problem document, whatever it is like: what is missing or of another type is left empty. Never throws. */
export const readProblem = (document: JsonObject, status = 0): Problem => {
  const listed = member(document, 'subproblems');
  const own = member(document, 'status');
  const type = readType(member(document, 'type'));
  return {
    type,
    detail:
      readText(member(document, 'detail'), MAX_DETAIL) ||
      readText(member(document, 'title'), MAX_DETAIL) ||
      'it says no more',
    status:
      status !== 0
        ? status
        : Number.isInteger(own) && (own as number) >= 100 && (own as number) < 600
          ? (own as number)
          : 0,
    subproblems: (Array.isArray(listed) ? listed.slice(0, MAX_SUBPROBLEMS) : []).filter(isObject).map((one) => ({
      name: nameOf(one),
      type: readType(member(one, 'type')),
      detail: readText(member(one, 'detail'), MAX_DETAIL),
    })),
  };
};

/** The problem of an order or a challenge; undefined when it has none. */
export const readError = (object: JsonObject): Problem | undefined => {
  const error = member(object, 'error');
  return isObject(error) ? readProblem(error) : undefined;
};
