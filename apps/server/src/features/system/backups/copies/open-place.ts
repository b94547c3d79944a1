import type { SettingKey } from '@sallyport/contract';
import type { Place } from '../../../../net/places/place.ts';
import { parsePlaceUrl } from '../../../../net/places/place-url.ts';

const required = (key: SettingKey, value: string): string => {
  if (value === '') throw new Error(`${key} is not set`);
  return value;
};

/** Opens the place that the settings name; to be closed. Rejects with an `Error` whose message is fit for an administrator. */
export const openPlace = async (
  url: string,
  read: (key: SettingKey) => Promise<string>,
  signal: AbortSignal,
): Promise<Place> => {
  const place = parsePlaceUrl(url);
  // Only when it is needed, which for many is never: megabytes of memory.
  const { openS3 } = await import('../../../../net/places/s3.ts');
  return openS3({
    place,
    region: await read('backup.copy_region'),
    accessKey: required('backup.copy_access_key', await read('backup.copy_access_key')),
    secretKey: required('backup.copy_secret_key', await read('backup.copy_secret_key')),
    signal,
  });
};
