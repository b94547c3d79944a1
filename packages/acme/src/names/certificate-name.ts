import { isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';

const MAX_NAME = 253;
const MAX_LABEL = 63;

/** The one spelling of an IPv6 address that RFC 8738 allows (RFC 5952). */
const shortestIpv6 = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1);

/** An identifier as an order has it: lower case, an IPv6 address in its shortest form. */
export const normaliseName = (name: string): string =>
  isIP(name) === 6 && !name.includes('%') ? shortestIpv6(name) : name.toLowerCase();

/** Whether it is an address, in the way RFC 8738 writes it. */
export const isAddress = (name: string): boolean => isIP(name) !== 0 && !name.includes('%');

/** Node gives back what it can't decode, as it is or as nothing, depending on its version. */
const isPunycode = (label: string): boolean => {
  const decoded = domainToUnicode(label);
  return decoded !== '' && decoded !== label && domainToASCII(decoded) === label;
};

const labelProblem = (label: string): string | undefined => {
  if (label === '') return 'has an empty part between two dots';
  if (label.length > MAX_LABEL) return `has a part of more than ${MAX_LABEL} characters`;
  if (label.includes('_')) return 'has an underscore, which no certificate may have';
  if (label.includes('*')) return 'has a * elsewhere than as its whole first part';
  if (!/^[a-z0-9-]+$/.test(label)) return 'has characters that a DNS name can’t have';
  if (label.startsWith('-') || label.endsWith('-')) return 'has a part that begins or ends with a hyphen';
  if (label.startsWith('xn--')) return isPunycode(label) ? undefined : 'has a part that is not valid punycode';
  return label.slice(2, 4) === '--'
    ? 'has a part with hyphens in third and fourth place, which are reserved'
    : undefined;
};

const addressLike = (name: string): string | undefined => {
  if (/^[\d.]+%|:.*:.*%/.test(name)) return 'is an address with a zone, which means nothing elsewhere';
  if (name.startsWith('[') || /:[^:]*:/.test(name)) {
    return 'is no IPv6 address; write one without brackets, port and prefix';
  }
  return /^\d+(?:\.\d+){3}[:/]\d*$/.test(name)
    ? 'is an address with a port or prefix; write the address alone'
    : undefined;
};

/**
 * Why no public certificate can have this name, as the rest of a sentence that begins with it; undefined for a DNS name of two parts
 * or more, in ASCII, with or without a leading `*.`, and for an IP address.
 */
export const certificateNameProblem = (name: string): string | undefined => {
  if (name === '') return 'is empty';
  if (isAddress(name)) return undefined;
  if (/[\s\p{Cc}\p{Cf}]/u.test(name)) return 'has spaces or characters that can’t be seen';
  if (/:\/\//.test(name)) return 'is a URL; write its host name alone';
  const address = addressLike(name);
  if (address !== undefined) return address;
  if (/:\d*$/.test(name)) return 'has a port; write the name alone';
  if (/[/?#@\\]/.test(name)) return 'has a path or special characters; write the name alone';
  if (/[^\x21-\x7e]/.test(name)) return 'has letters outside of ASCII; write them as punycode (xn--…)';
  if (name.endsWith('.')) return 'ends with a dot; leave it out';
  if (name.length > MAX_NAME) return `is longer than ${MAX_NAME} characters`;
  const labels = name.toLowerCase().split('.');
  const isWildcard = labels[0] === '*';
  if (isWildcard) labels.shift();
  if (isWildcard && labels.length === 0) return 'is a wildcard for everything, which no certificate may have';
  for (const label of labels) {
    const problem = labelProblem(label);
    if (problem !== undefined) return problem;
  }
  // 0x7f.1 and 1.2.3 are addresses to some who read them.
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) return 'ends in a number, and is no IPv4 address of four';
  if (labels.length === 1) {
    return isWildcard
      ? 'is a wildcard for a whole top-level domain'
      : 'has no dot: it is a top-level domain or a local name';
  }
  return undefined;
};
