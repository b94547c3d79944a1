/** Where copies go, as `backup.copy_url` says. */
export type PlaceUrl =
  | { kind: 's3'; url: URL; bucket: string; prefix: string }
  | { kind: 'sftp'; host: string; port: number; user: string; directory: string };

const REQUIREMENT = 'must be https://endpoint/bucket/prefix (S3) or sftp://user@host:port/directory';

/** Nothing that one part of the way escapes and another doesn't, and no way up. */
const PATH = /^(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;

/** Reads the address of a place. Throws an `Error` whose message continues "value …". */
export const parsePlaceUrl = (text: string): PlaceUrl => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.hostname === '' || /[\s?#\\]/.test(text)) throw new Error(REQUIREMENT);
  if (url.password !== '') throw new Error('must hold no password: keys have settings of their own');
  const path = url.pathname.replace(/\/+$/, '');
  // The parser takes dots out of paths: what it read must be what was written.
  if (!PATH.test(path) || text.replace(/^[a-z]+:\/\/[^/]*/i, '').replace(/\/+$/, '') !== path) {
    throw new Error('must have a path of letters, digits, dots, dashes and underscores');
  }
  if (url.protocol === 'sftp:') {
    const user = url.username;
    if (!/^[A-Za-z0-9._@-]+$/.test(user)) throw new Error(`${REQUIREMENT}, with a user of letters and digits`);
    return {
      kind: 'sftp',
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: Number(url.port || 22),
      user,
      directory: path || '/',
    };
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new Error(REQUIREMENT);
  const [, bucket = '', ...prefix] = path.split('/');
  if (bucket === '' || url.username !== '') throw new Error(REQUIREMENT);
  return { kind: 's3', url, bucket, prefix: prefix.map((part) => `${part}/`).join('') };
};

/** Whether what goes there can be read on the way. */
export const isInClear = (text: string): boolean => text.toLowerCase().startsWith('http:');
