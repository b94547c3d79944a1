/** Directories of well-known authorities, by what they may be called instead. */
export const DIRECTORIES = {
  letsencrypt: 'https://acme-v02.api.letsencrypt.org/directory',
  'letsencrypt-staging': 'https://acme-staging-v02.api.letsencrypt.org/directory',
  zerossl: 'https://acme.zerossl.com/v2/DV90',
  google: 'https://dv.acme-v02.api.pki.goog/directory',
  buypass: 'https://api.buypass.com/acme/directory',
} as const;

const isShorthand = (text: string): text is keyof typeof DIRECTORIES => Object.hasOwn(DIRECTORIES, text);

/** The URL of a directory that is named by its URL or a shorthand. Throws an `Error` whose message continues the field's name. */
export const directoryUrlOf = (given: string): string => {
  const text = given.trim();
  if (isShorthand(text.toLowerCase())) return DIRECTORIES[text.toLowerCase() as keyof typeof DIRECTORIES];
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' || url.hostname === '') {
    throw new Error(`must be an https URL, or one of ${Object.keys(DIRECTORIES).join(', ')}`);
  }
  if (url.username !== '' || url.password !== '') throw new Error('must not hold a user or password');
  if (url.hash !== '') throw new Error('must not have a fragment');
  return url.href;
};
