const secretName =
  /pass(?:word|wd|phrase|code)?(?:$|[^a-z])|pwd|secret|token|authori[sz]ation|api[-_]?key|private[-_]?key|credential|cookie|session|csrf|otp(?:$|[^a-z])|pin(?:$|[^a-z])|cvv|card[-_]?num/i;
const secretPair =
  /((?:pass(?:word|wd|phrase)?|pwd|secret|token|api[-_]?key|authori[sz]ation)[\w.[\]-]{0,40}["']?\s{0,4}[=:]\s{0,4}["']?(?:Basic |Bearer )?)[^&;"',\s]{1,200}/gi;

/** Whether values under this variable name (`ARGS:password`, `REQUEST_HEADERS:Authorization`) must not be shown. */
export const isSecretName = (name: string): boolean => {
  // Every header is in it, those with secrets as well.
  if (name === 'FULL_REQUEST') return true;
  const colon = name.indexOf(':');
  return (
    colon !== -1 &&
    !name.startsWith('TX:') &&
    !name.slice(0, colon).endsWith('_NAMES') &&
    secretName.test(name.slice(colon + 1))
  );
};

/** Hides what follows a secret-bearing name inside a longer text, such as `password=…` in a query string. */
export const maskPairs = (text: string): string => text.replace(secretPair, '$1***');

/** At most `limit` chars of a Latin-1 text, with bytes that do not print as `\xhh` and an ellipsis where it was cut. */
export const printable = (text: string, limit: number): string => {
  const isCut = text.length > limit;
  const shown = (isCut ? text.slice(0, limit) : text).replace(
    /[^\x20-\x7e]/g,
    (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  return isCut ? `${shown}…` : shown;
};
