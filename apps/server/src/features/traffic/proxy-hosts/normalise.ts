import { isIP } from 'node:net';
import type { ProxyHostFields, ProxyHostPatch } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';
import { parseOriginHost } from '@sallyport/store/names/domain-name';
import { normaliseSetup } from '../../../dataplane/protection/waf-setup.ts';
import { parseDomains } from './domains.ts';

/** What a caller says of a host, in the form in which it is stored. */
export interface Normalised<T extends ProxyHostPatch> {
  fields: T;
  names: string[] | undefined;
}

const parseForwardHost = (host: string): string => {
  try {
    return parseOriginHost(host);
  } catch (error) {
    throw refuse.invalid(`forward_host ${(error as Error).message}`);
  }
};

/** Normalises what a caller may write in more than one way; throws a 400 that names the field. */
export const normalise = <T extends ProxyHostPatch>(input: T): Normalised<T> => {
  const fields = normaliseSetup({ ...input });
  const names = input.domain === undefined ? undefined : parseDomains(input.domain);
  if (names) fields.domain = names.join(',');
  if (input.forward_host !== undefined) fields.forward_host = parseForwardHost(input.forward_host);
  if (input.name !== undefined) fields.name = input.name.trim();
  return { fields, names };
};

/** Certificates are checked against names; looked at when all fields are known, since a patch may give any of them. */
export const checkVerification = ({ forward_scheme, forward_verify_tls, forward_host }: ProxyHostFields): void => {
  if (forward_scheme === 'https' && forward_verify_tls && isIP(forward_host) !== 0) {
    throw refuse.invalid(
      'forward_verify_tls needs a host name in forward_host: certificates are checked against names',
    );
  }
};
