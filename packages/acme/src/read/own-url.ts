import { AcmeProtocolError } from '../model/errors.ts';
import { readText } from './text.ts';

const MAX_URL = 2_000;

/** A directory's URL; throws `AcmeProtocolError` when it is none, not https, or has credentials. */
export const parseDirectoryUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const shown = readText(text, 200);
  if (url === undefined || text.length > MAX_URL)
    throw new AcmeProtocolError(shown, 'the directory’s address is no URL');
  if (url.protocol !== 'https:') throw new AcmeProtocolError(shown, 'a directory is reached by https only');
  if (url.username !== '' || url.password !== '') {
    throw new AcmeProtocolError(`${url.origin}${url.pathname}`, 'the directory’s URL has a user name or password');
  }
  return url;
};

/** As the standard writes URLs: what parsers mend (blanks, backslashes) is none. */
const WRITTEN = /^https:\/\/[\x21-\x5b\x5d-\x7e]+$/i;

/**
 * Makes the check that a URL which a CA names is https, of the directory's own host and port. It returns the URL as written, since the
 * CA compares it with what it wrote when it comes back in a signature.
 */
export const ownUrls =
  (directory: URL) =>
  (value: unknown, from: string, what: string): string => {
    if (typeof value !== 'string' || value.length > MAX_URL || !URL.canParse(value)) {
      throw new AcmeProtocolError(from, `${what} is no URL: ${JSON.stringify(readText(value, 80))}`);
    }
    const url = new URL(value);
    if (url.origin !== directory.origin || url.username !== '' || url.password !== '' || !WRITTEN.test(value)) {
      const shown = JSON.stringify(readText(value, 120));
      throw new AcmeProtocolError(from, `${what} is elsewhere than the directory (${directory.origin}): ${shown}`);
    }
    return value;
  };

export type OwnUrl = ReturnType<typeof ownUrls>;
