import { AcmeProtocolError } from '../model/errors.ts';
import { readText } from './text.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object that a body is; throws `AcmeProtocolError` for anything else. */
export const parseObject = (body: string, url: string): JsonObject => {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new AcmeProtocolError(url, `the answer is not JSON: ${JSON.stringify(readText(body.slice(0, 200), 60))}`);
  }
  if (!isObject(value)) throw new AcmeProtocolError(url, 'the answer is JSON, but no object');
  return value;
};

/** An own member: a CA's document has no `constructor`. */
export const member = (object: JsonObject, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** A date of RFC 3339; undefined when there is none, or an unreadable one. */
export const readDate = (value: unknown): Date | undefined => {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d/.test(value) || value.length > 40)
    return undefined;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? undefined : date;
};

/** One of `known`; throws `AcmeProtocolError` for anything else. */
export const readStatus = <Status extends string>(value: unknown, known: readonly Status[], url: string): Status => {
  const status = known.find((one) => one === value);
  if (status === undefined) {
    throw new AcmeProtocolError(
      url,
      `the answer has no status that ACME knows: ${JSON.stringify(readText(value, 40))}`,
    );
  }
  return status;
};
