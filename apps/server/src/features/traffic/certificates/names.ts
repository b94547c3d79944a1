import { isAddress, normaliseName } from '@sallyport/acme';
import { parseDomainName } from '@sallyport/store/names/domain-name';

export { isAddress };

/**
 * Normalises a name that a certificate may be for: a DNS name as `parseDomainName` does, a leading `*.` allowed, or an IPv4 or
 * IPv6 address (brackets removed). Throws an `Error` that says what is wrong.
 */
export const parseCertificateName = (text: string): string => {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  return isAddress(bare) ? normaliseName(bare) : parseDomainName(text);
};
