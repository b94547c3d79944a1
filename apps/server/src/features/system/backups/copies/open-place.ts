import type { SettingKey } from '@sallyport/contract';
import type { Place } from '../../../../net/places/place.ts';
import { type PlaceUrl, parsePlaceUrl } from '../../../../net/places/place-url.ts';
import { parseFingerprints } from '../../../../net/places/ssh-keys.ts';

type Read = (key: SettingKey) => Promise<string>;
type Placed<Kind> = Extract<PlaceUrl, { kind: Kind }>;

const required = (key: SettingKey, value: string): string => {
  if (value === '') throw new Error(`${key} is not set`);
  return value;
};

// Each is loaded only when it is needed, which for many is never: megabytes of memory.

const openBucket = async (place: Placed<'s3'>, read: Read, signal: AbortSignal): Promise<Place> => {
  const { openS3 } = await import('../../../../net/places/s3.ts');
  return openS3({
    place,
    region: await read('backup.copy_region'),
    accessKey: required('backup.copy_access_key', await read('backup.copy_access_key')),
    secretKey: required('backup.copy_secret_key', await read('backup.copy_secret_key')),
    signal,
  });
};

const openDirectory = async (place: Placed<'sftp'>, read: Read, signal: AbortSignal): Promise<Place> => {
  const { openSftp } = await import('../../../../net/places/sftp.ts');
  const hostKeys = parseFingerprints(await read('backup.copy_host_key'));
  const privateKey = await read('backup.copy_private_key');
  const password = privateKey === '' ? await read('backup.copy_password') : '';
  // Who knows no host yet is told its key first, which takes no credentials.
  if (hostKeys.length > 0) required('backup.copy_private_key', privateKey || password);
  return openSftp({ place, hostKeys, privateKey, password, signal });
};

/** Opens the place that the settings name; to be closed. Rejects with an `Error` whose message is fit for an administrator. */
export const openPlace = async (url: string, read: Read, signal: AbortSignal): Promise<Place> => {
  const place = parsePlaceUrl(url);
  return place.kind === 's3' ? openBucket(place, read, signal) : openDirectory(place, read, signal);
};
