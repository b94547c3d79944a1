/** Where copies go, as `backup.copy_url` says. */
export type PlaceUrl =
  /** A bucket of an S3-compatible service; the prefix is empty or ends with a slash. */
  | { kind: 's3'; url: URL; bucket: string; prefix: string }
  /** A directory of an SFTP host, without a slash at its end; a relative one begins where the host puts whoever signs in. */
  | { kind: 'sftp'; host: string; port: number; user: string; directory: string };

const S3_FORM = 'https://endpoint/bucket/prefix of an S3-compatible service';
const SFTP_FORM = 'sftp://user@host/directory';
const REQUIREMENT = `must be ${S3_FORM}, or ${SFTP_FORM}`;

/** Nothing that one part of the way escapes and another doesn't, and no way up. */
const PATH = /^(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])$/;
const USER = /^[A-Za-z0-9_][A-Za-z0-9._+@$-]{0,63}$/;
/** What stands before a path below the directory where an SFTP host begins. */
const HOME = '/~';

const pathOf = (text: string, url: URL): string => {
  const path = url.pathname.replace(/\/+$/, '');
  const below = url.protocol === 'sftp:' && `${path}/`.startsWith(`${HOME}/`) ? path.slice(HOME.length) : path;
  // The parser takes dots out of paths: what it read must be what was written.
  if (!PATH.test(below) || text.replace(/^[a-z]+:\/\/[^/]*/i, '').replace(/\/+$/, '') !== path) {
    throw new Error('must have a path of letters, digits, dots, dashes and underscores');
  }
  return path;
};

const parseS3 = (url: URL, path: string): PlaceUrl => {
  if (url.username !== '') throw new Error('must hold no credentials: they have settings');
  const [, bucket = '', ...prefix] = path.split('/');
  if (url.hostname === '' || bucket === '') throw new Error(REQUIREMENT);
  return { kind: 's3', url, bucket, prefix: prefix.map((part) => `${part}/`).join('') };
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
};

const parseSftp = (url: URL, path: string): PlaceUrl => {
  const user = decoded(url.username);
  if (!HOST.test(url.hostname) || !USER.test(user) || url.port === '0') throw new Error(`must be ${SFTP_FORM}`);
  const isAtHome = `${path}/`.startsWith(`${HOME}/`);
  return {
    kind: 'sftp',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 22),
    user,
    directory: isAtHome ? `.${path.slice(HOME.length)}` : path,
  };
};

/** Reads the address of a place. Throws an `Error` whose message continues "value …". */
export const parsePlaceUrl = (text: string): PlaceUrl => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['https:', 'http:', 'sftp:'].includes(url.protocol) || /[\s?#\\]/.test(text)) {
    throw new Error(REQUIREMENT);
  }
  if (url.password !== '') throw new Error('must hold no credentials: they have settings');
  const path = pathOf(text, url);
  return url.protocol === 'sftp:' ? parseSftp(url, path) : parseS3(url, path);
};

/** Whether what goes there can be read on the way. */
export const isInClear = (text: string): boolean => text.toLowerCase().startsWith('http:');
