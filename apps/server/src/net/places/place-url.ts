/** Where copies go, as `backup.copy_url` says: a bucket of an S3-compatible service, and a prefix that is empty or ends with a slash. */
export interface PlaceUrl {
  url: URL;
  bucket: string;
  prefix: string;
}

const REQUIREMENT = 'must be https://endpoint/bucket/prefix of an S3-compatible service';

/** Nothing that one part of the way escapes and another doesn't, and no way up. */
const PATH = /^(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;

/** Reads the address of a place. Throws an `Error` whose message continues "value …". */
export const parsePlaceUrl = (text: string): PlaceUrl => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (!url || !isHttp || url.hostname === '' || /[\s?#\\]/.test(text)) throw new Error(REQUIREMENT);
  if (url.username !== '' || url.password !== '') throw new Error('must hold no credentials: they have settings');
  const path = url.pathname.replace(/\/+$/, '');
  // The parser takes dots out of paths: what it read must be what was written.
  if (!PATH.test(path) || text.replace(/^[a-z]+:\/\/[^/]*/i, '').replace(/\/+$/, '') !== path) {
    throw new Error('must have a path of letters, digits, dots, dashes and underscores');
  }
  const [, bucket = '', ...prefix] = path.split('/');
  if (bucket === '') throw new Error(REQUIREMENT);
  return { url, bucket, prefix: prefix.map((part) => `${part}/`).join('') };
};

/** Whether what goes there can be read on the way. */
export const isInClear = (text: string): boolean => text.toLowerCase().startsWith('http:');
