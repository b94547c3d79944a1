import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Container and Windows names may hold underscores; they are looked up, never served. */
const ORIGIN_LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const MAX_NAME_LENGTH = 253;

const isName = (text: string, label: RegExp): boolean =>
  text.length > 0 && text.length <= MAX_NAME_LENGTH && text.split('.').every((part) => label.test(part));

/** Characters that `domainToASCII` would quietly drop or take for a delimiter. */
const FORBIDDEN = /[\s\p{Cc}\p{Cf}/\\:@?#%<>|^[\]"'`{}]/u;

const toAscii = (text: string): string => {
  const trimmed = text.endsWith('.') ? text.slice(0, -1) : text;
  // ASCII is only lower-cased: IDNA would refuse names such as `a--b.example` that DNS allows.
  return /^[\x21-\x7e]*$/.test(trimmed) ? trimmed.toLowerCase() : domainToASCII(trimmed.normalize('NFC'));
};

/**
 * Normalises one DNS name to lower case, internationalised ones to punycode; a leading `*.` is kept.
 * Throws an `Error` that says what is wrong, without repeating control characters.
 */
export const parseDomainName = (text: string): string => {
  const shown = JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
  const isWildcard = text.startsWith('*.');
  const rest = isWildcard ? text.slice(2) : text;
  if (text.includes('://')) throw new Error(`${shown} must be a DNS name without a scheme`);
  if (FORBIDDEN.test(rest)) throw new Error(`${shown} must be a DNS name without port, path or special characters`);
  const name = toAscii(rest);
  if (isIP(name) !== 0 || /(^|\.)\d+$/.test(name)) throw new Error(`${shown} must be a DNS name, not an IP address`);
  if (!isName(name, LABEL)) throw new Error(`${shown} is not a valid DNS name`);
  const result = isWildcard ? `*.${name}` : name;
  if (result.length > MAX_NAME_LENGTH) throw new Error(`${shown} is longer than ${MAX_NAME_LENGTH} characters`);
  return result;
};

/**
 * Normalises the host of an origin or a remote server: an IPv4 or IPv6 address (brackets removed) or a host name.
 * Throws an `Error` that says what is wrong.
 */
export const parseOriginHost = (text: string): string => {
  const shown = JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
  const trimmed = text.trim();
  const bare = trimmed.startsWith('[') && trimmed.endsWith(']') ? trimmed.slice(1, -1) : trimmed;
  if (isIP(bare) !== 0 && !bare.includes('%')) return bare.toLowerCase();
  if (trimmed.includes('://')) throw new Error(`${shown} must be a host name or IP address without a scheme`);
  if (FORBIDDEN.test(trimmed)) throw new Error(`${shown} must be a host name or IP address, without port or path`);
  const name = toAscii(trimmed);
  // `1.2.3` or `0x7f.1` would be read as an IPv4 address by some resolvers and as a name by others.
  if (/(^|\.)(\d+|0x[0-9a-f]*)$/.test(name)) throw new Error(`${shown} is not a valid IPv4 address`);
  if (!isName(name, ORIGIN_LABEL)) throw new Error(`${shown} is not a valid host name or IP address`);
  return name;
};
