import { AcmeProtocolError } from '../model/errors.ts';
import type { AcmeDirectory } from '../model/objects.ts';
import { isObject, member, parseObject } from './json.ts';
import type { OwnUrl } from './own-url.ts';
import { readText } from './text.ts';

const MAX_LISTED = 50;

/** A link for people; a script, or what is no URL, is left out. Pebble has its terms in the URL itself. */
const readLink = (value: unknown): string | undefined => {
  const text = readText(value, 500);
  return /^(?:https?:\/\/|data:text\/plain[,;])/i.test(text) && URL.canParse(text) ? new URL(text).href : undefined;
};

/** Reads a directory; throws `AcmeProtocolError` when it is none, or names another host. */
export const readDirectory = (body: string, url: string, ownUrl: OwnUrl): AcmeDirectory => {
  const document = parseObject(body, url);
  const required = (name: string): string => {
    const value = member(document, name);
    if (value === undefined) throw new AcmeProtocolError(url, `this is no ACME directory: it has no ${name}`);
    return ownUrl(value, url, name);
  };
  const optional = (name: string): string | undefined => {
    const value = member(document, name);
    return value === undefined || value === null ? undefined : ownUrl(value, url, name);
  };
  const stated = member(document, 'meta');
  const meta = isObject(stated) ? stated : {};
  const identities = member(meta, 'caaIdentities');
  const profiles = member(meta, 'profiles');
  return {
    newNonce: required('newNonce'),
    newAccount: required('newAccount'),
    newOrder: required('newOrder'),
    revokeCert: optional('revokeCert'),
    renewalInfo: optional('renewalInfo'),
    termsOfService: readLink(member(meta, 'termsOfService')),
    website: readLink(member(meta, 'website')),
    caaIdentities: (Array.isArray(identities) ? identities.slice(0, MAX_LISTED) : [])
      .map((one) => readText(one, 255).toLowerCase())
      .filter((one) => one !== ''),
    externalAccountRequired: member(meta, 'externalAccountRequired') === true,
    profiles: Object.fromEntries(
      Object.entries(isObject(profiles) ? profiles : {})
        .slice(0, MAX_LISTED)
        .map(([name, about]) => [readText(name, 100), readText(about, 500)])
        .filter(([name]) => name !== ''),
    ),
  };
};
