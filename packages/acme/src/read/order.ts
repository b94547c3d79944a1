import { AcmeProtocolError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Order } from '../model/objects.ts';
import { normaliseName } from '../names/certificate-name.ts';
import { isObject, member, parseObject, readDate, readStatus } from './json.ts';
import type { OwnUrl } from './own-url.ts';
import { readError } from './problem.ts';
import { readText } from './text.ts';

const STATUSES = ['pending', 'ready', 'processing', 'valid', 'invalid'] as const;

const list = (value: unknown, what: string, from: string): readonly unknown[] => {
  if (!Array.isArray(value) || value.length === 0 || value.length > limits.namesPerOrder) {
    throw new AcmeProtocolError(from, `the order has no list of 1 to ${limits.namesPerOrder} ${what}`);
  }
  return value;
};

const readName = (identifier: unknown, from: string): string => {
  const value = isObject(identifier) ? readText(member(identifier, 'value'), 255) : '';
  if (value === '') throw new AcmeProtocolError(from, 'the order has an identifier without a name');
  return normaliseName(value);
};

/** Reads the order that is at `url`; throws `AcmeProtocolError` when it is none. */
export const readOrder = (body: string, url: string, ownUrl: OwnUrl): Order => {
  const document = parseObject(body, url);
  const status = readStatus(member(document, 'status'), STATUSES, url);
  const certificate = member(document, 'certificate') ?? undefined;
  if (status === 'valid' && certificate === undefined) {
    throw new AcmeProtocolError(url, 'the order is valid, but does not say where its certificate is');
  }
  return {
    url,
    status,
    names: list(member(document, 'identifiers'), 'identifiers', url).map((one) => readName(one, url)),
    authorizations: list(member(document, 'authorizations'), 'authorizations', url).map((one) =>
      ownUrl(one, url, 'an authorization'),
    ),
    finalize: ownUrl(member(document, 'finalize'), url, 'finalize'),
    certificate: certificate === undefined ? undefined : ownUrl(certificate, url, 'the certificate'),
    expires: readDate(member(document, 'expires')),
    error: readError(document),
  };
};
