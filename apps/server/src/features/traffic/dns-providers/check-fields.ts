import { refuse } from '@sallyport/store/errors';
import { parseDomainName, parseOriginHost } from '@sallyport/store/names/domain-name';
import type { DnsProviderAccess } from './access.ts';
import type { KnownType, ProviderTypes } from './types.ts';

const ALGORITHMS = ['hmac-md5', 'hmac-sha1', 'hmac-sha224', 'hmac-sha256', 'hmac-sha384', 'hmac-sha512'];
const LONGEST_TTL = 86_400;

/** Returns the value as it is stored, or throws an `Error` whose message continues "fields.KEY …". */
type Check = (value: string) => string;

const oneLine: Check = (value) => {
  if (/\p{Cc}/u.test(value)) throw new Error('must be one line without control characters');
  return value;
};

const number =
  (maximum: number): Check =>
  (value) => {
    if (!/^[1-9]\d{0,5}$/.test(value) || Number(value) > maximum) {
      throw new Error(`must be a whole number between 1 and ${maximum}`);
    }
    return value;
  };

const matching =
  (pattern: RegExp, what: string): Check =>
  (value) => {
    if (!pattern.test(value)) throw new Error(`must be ${what}`);
    return value;
  };

const hookUrl: Check = (value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !['https:', 'http:'].includes(url.protocol) || url.hostname === '') {
    throw new Error('must be a URL that starts with https:// or http://');
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('must not hold credentials: put them in bearer_token');
  }
  return value;
};

/** What goes into a script or a header, by type and field. */
const CHECKS: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  rfc2136: {
    nameserver: parseOriginHost,
    port: number(65_535),
    zone: (value) => parseDomainName(value.replace(/\.$/, '')),
    tsig_key_name: matching(
      /^[a-z0-9_](?:[a-z0-9._-]{0,252}[a-z0-9_])?\.?$/i,
      'a name of letters, digits, dots and hyphens',
    ),
    tsig_algorithm: matching(new RegExp(`^(?:${ALGORITHMS.join('|')})$`), `one of: ${ALGORITHMS.join(', ')}`),
    tsig_secret: matching(/^[A-Za-z0-9+/]{4,1024}={0,2}$/, 'base64, as tsig-keygen writes it'),
    ttl: number(LONGEST_TTL),
  },
  webhook: {
    url: hookUrl,
    bearer_token: matching(/^[\x21-\x7e]+$/, 'of printable ASCII without spaces'),
    signing_secret: oneLine,
  },
};

/** lego's fields go into an environment: texts, keys and JSON among them. */
const anyText: Check = (value) => {
  if (/[^\P{Cc}\t\r\n]/u.test(value)) throw new Error('must be text without control characters');
  return value;
};

const checkTogether = ({ type, fields, secrets }: DnsProviderAccess): void => {
  if (type !== 'rfc2136') return;
  const [hasName, hasSecret] = [fields.tsig_key_name !== undefined, secrets.tsig_secret !== undefined];
  if (hasName && !hasSecret) throw refuse.invalid('fields.tsig_secret is required with fields.tsig_key_name');
  if (hasSecret && !hasName) throw refuse.invalid('fields.tsig_key_name is required with fields.tsig_secret');
};

const unknownField = ({ type, fields }: KnownType, key: string) => {
  const told = fields.map((field) => field.key).join(', ');
  return refuse.invalid(`fields.${key.replaceAll(/[^\x21-\x7e]/g, '?').slice(0, 64)} is not a field of ${type}`, {
    details: `It has: ${told}`,
  });
};

/** What was given of the fields of a provider; null removes one. */
export type GivenFields = Readonly<Record<string, string | null>>;

/** The type that is meant. Throws a 400 that says why there is none. */
export const knownType = async (types: Pick<ProviderTypes, 'find'>, type: string): Promise<KnownType> => {
  const shown = JSON.stringify(type);
  const known = await types.find(type).catch((error: Error) => {
    throw refuse.invalid(`type ${shown} is not known here: ${error.message}`);
  });
  if (!known) throw refuse.invalid(`type ${shown} is not known here; GET /dns-providers/types lists those that are`);
  return known;
};

/** Fields by whether they are secret, checked and trimmed; `kept` are secrets that stay unless they are given. Throws a 400 that names the field. */
export const checkFields = (
  known: KnownType,
  given: GivenFields,
  kept: Readonly<Record<string, string>> = {},
): DnsProviderAccess => {
  const isSecret = new Map(known.fields.map(({ key, secret }) => [key, secret]));
  const secrets = Object.fromEntries(Object.entries(kept).filter(([key]) => isSecret.get(key)));
  const fields: Record<string, string> = {};
  for (const [key, value] of Object.entries(given)) {
    if (!isSecret.has(key)) throw unknownField(known, key);
    const into = isSecret.get(key) ? secrets : fields;
    const text = value?.trim() ?? '';
    delete into[key];
    if (text === '') continue;
    try {
      into[key] = (CHECKS[known.type]?.[key] ?? anyText)(text);
    } catch (error) {
      throw refuse.invalid(`fields.${key} ${(error as Error).message}`);
    }
  }
  const missing = known.fields.find(({ key, required }) => required && fields[key] === undefined && !secrets[key]);
  if (missing) throw refuse.invalid(`fields.${missing.key} is required`);
  const access = { type: known.type, fields, secrets };
  checkTogether(access);
  return access;
};
