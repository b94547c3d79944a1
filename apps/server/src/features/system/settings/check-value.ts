import { isSettingKey, type NewSetting, SETTINGS, type SettingDefinition, type SettingKey } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';
import { parseEmail } from '@sallyport/store/names/email-address';
import { normaliseBaseUrl } from '../../../net/base-url.ts';
import { parseNameServers } from '../../../net/name-server-address.ts';
import { parsePlaceUrl } from '../../../net/places/place-url.ts';
import { parseFingerprints, parsePrivateKey } from '../../../net/places/ssh-keys.ts';
import { nextAfter } from '../backups/cron.ts';

type Normalise = (value: string, definition: SettingDefinition) => string;

/** One per type: returns the value to store, or throws an `Error` whose message continues "value …". */
const normalisers: Readonly<Record<SettingDefinition['type'], Normalise>> = {
  boolean: (value) => {
    if (value !== 'true' && value !== 'false') throw new Error('must be true or false');
    return value;
  },
  integer: (value, { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER }) => {
    const number = /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= minimum && number <= maximum)) {
      throw new Error(`must be a whole number between ${minimum} and ${maximum}`);
    }
    return String(number);
  },
  choice: (value, { options = [] }) => {
    if (!options.includes(value)) throw new Error(`must be one of: ${options.join(', ')}`);
    return value;
  },
  email: (value) => (value === '' ? '' : parseEmail(value)),
  text: (value, { minLength = 0 }) => {
    if (/\p{Cc}/u.test(value)) throw new Error('must be one line without control characters');
    if (value !== '' && value.length < minLength) throw new Error(`must be at least ${minLength} characters long`);
    return value;
  },
  cron: (value) => {
    const pattern = value.trim();
    if (pattern === '') return '';
    try {
      nextAfter(pattern, new Date());
    } catch (error) {
      const example = 'must be five fields of a crontab, such as 0 3 * * *';
      throw new Error(`${example}: ${(error as Error).message}`);
    }
    return pattern;
  },
  place: (value) => {
    const place = value.trim();
    if (place !== '') parsePlaceUrl(place);
    return place;
  },
  fingerprints: (value) => parseFingerprints(value).join(' '),
  private_key: (value) => (value === '' ? '' : parsePrivateKey(value)),
  name_servers: (value) => parseNameServers(value).join(' '),
  url: (value) => (value === '' ? '' : normaliseBaseUrl(value)),
};

/** Checks key and value against the catalogue and returns the value as it is stored. Throws a 400 that says why not. */
export const checkSetting = ({ key, value }: NewSetting): { key: SettingKey; value: string } => {
  if (!isSettingKey(key)) throw refuse.invalid(`key "${key.slice(0, 64)}" is not a setting`);
  const definition: SettingDefinition = SETTINGS[key];
  try {
    return { key, value: normalisers[definition.type](value, definition) };
  } catch (error) {
    const message = (error as Error).message;
    throw refuse.invalid(definition.type === 'url' ? `value: ${message}` : `value ${message}`);
  }
};
