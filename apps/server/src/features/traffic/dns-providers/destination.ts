import { refuse } from '@sallyport/store/errors';
import type { DnsProviderAccess } from './access.ts';
import type { GivenFields } from './check-fields.ts';

type Texts = Readonly<Record<string, string>>;

/** Plain fields that decide where the secrets of a provider of ours go. */
const OWN: Readonly<Record<string, RegExp>> = {
  rfc2136: /^(?:nameserver|port)$/,
  webhook: /^url$/,
};
/** Of lego's any may become a part of an address (a region, an account), but those that tell how long, or how often. */
const LEGO = /^(?!.*_(?:TTL|TIMEOUT|INTERVAL|MAX_RETRIES)$)/;

/** The type and the plain fields that decide where the secrets of a provider go. */
export const destinationOf = ({ type, fields }: Pick<DnsProviderAccess, 'type' | 'fields'>): Texts => {
  const deciding = Object.entries(fields)
    .filter(([key]) => (OWN[type] ?? LEGO).test(key))
    .sort();
  return { type, ...Object.fromEntries(deciding.map(([key, value]) => [`fields.${key}`, value])) };
};

/** What decides where secrets go and is not the same in both, by its name in a request. */
const differences = (one: Texts, other: Texts): string[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((key) => one[key] !== other[key]).sort();

/**
 * Throws a 400 that names the secrets which a change would have sent elsewhere than where they were given for: whoever knows them can
 * give them anew, and nobody else has them sent to an address of their own.
 */
export const checkGivenAnew = (before: DnsProviderAccess, given: GivenFields, after: DnsProviderAccess): void => {
  const changed = differences(destinationOf(before), destinationOf(after));
  const stay = Object.keys(before.secrets).filter((key) => key in after.secrets && !Object.hasOwn(given, key));
  if (changed.length === 0 || stay.length === 0) return;
  const secrets = stay.sort().map((key) => `fields.${key}`);
  throw refuse.invalid(
    `${secrets.join(', ')} must be given anew, or removed with null: ${changed.join(', ')} may decide where secrets are sent, and would change`,
  );
};

/** Secrets as the history keeps them: of no use but where they were given for. */
export interface KeptSecrets {
  values: Texts;
  /** See `destinationOf`; without secrets it is empty. */
  destination: Texts;
}

/** What the history keeps of secrets: a change of where they go is a change of them, so that nobody takes back one without the other. */
export const keptSecrets = (access: DnsProviderAccess): KeptSecrets => {
  const values = access.secrets;
  return { values, destination: Object.keys(values).length === 0 ? {} : destinationOf(access) };
};

/** Secrets that come back to a provider. Throws a 409 when they would be sent elsewhere than before. */
export const secretsFor = (provider: Pick<DnsProviderAccess, 'type' | 'fields'>, kept: Partial<KeptSecrets>): Texts => {
  // An earlier version kept the secrets alone.
  const { values = kept as Texts, destination } = kept;
  if (Object.keys(values).length === 0) return {};
  if (destination === undefined) throw refuse.conflict('it is not known any more where the secrets may be sent');
  const changed = differences(destination, destinationOf(provider));
  if (changed.length === 0) return values;
  throw refuse.conflict(
    `the secrets would be sent elsewhere than where they were given for: ${changed.join(', ')} is another one since`,
  );
};
