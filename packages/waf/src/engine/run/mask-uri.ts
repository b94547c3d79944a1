import { isSecretName } from './secret-names.ts';

const MASK = '***';
/** Parameters of a path's segments (RFC 3986, section 3.3). */
const IN_PATH = /(;)([^;=/]{1,256})=([^;/]*)/g;
/** Pairs of a query, and of a question mark inside it. */
const IN_QUERY = /([?&;])([^?&;=]{1,256})=([^?&;]*)/g;

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
};

const maskPair = (pair: string, before: string, name: string): string =>
  isSecretName(`ARGS:${decoded(name)}`) ? `${before}${name}=${MASK}` : pair;

/**
 * A request target without the values of parameters whose names say that they are secret (`?password=…`): logs
 * are read by others than administrators, and webhooks and mails leave the house.
 */
export const maskUri = (uri: string): string => {
  const end = uri.includes('?') ? uri.indexOf('?') : uri.length;
  return uri.slice(0, end).replaceAll(IN_PATH, maskPair) + uri.slice(end).replaceAll(IN_QUERY, maskPair);
};
