const REQUIREMENT = 'URL must start with http:// or https:// and cannot include path components';

/** Scheme, host and port as written, then only slashes: nothing that a parser would drop or move. */
const BASE_URL = /^(https?):\/\/(\[[0-9a-f:.]+\]|[^\s/\\?#@:[\]]+)(?::(\d{1,5}))?\/*$/i;

/**
 * Checks a public base URL (spec, Validation rules for validate-url) and removes its trailing slashes.
 * Throws an `Error` with the spec's message.
 */
export const normaliseBaseUrl = (text: string): string => {
  const [, scheme = '', host = '', port] = BASE_URL.exec(text) ?? [];
  if (scheme === '' || !URL.canParse(text) || port === '0') throw new Error(REQUIREMENT);
  const { hostname } = new URL(text);
  // IDNA may turn a host into something else than was read, or into nothing.
  if (hostname === '') throw new Error(REQUIREMENT);
  const shown = /^[\x21-\x7e]*$/.test(host) ? host.toLowerCase() : hostname;
  return `${scheme.toLowerCase()}://${shown}${port === undefined ? '' : `:${port}`}`;
};
