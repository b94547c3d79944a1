import { shorten } from './shorten.ts';

/** Where requests are redirected to, and with which status, as the source says it. */
export interface Redirection {
  to: string;
  code: string;
}

/** Target and status as messages have them: `https://example.com/ (301)`. */
export const inWords = ({ to, code }: Redirection): string => `${shorten(to, 200)} (${shorten(code, 20)})`;

/** Why what only redirects is no host. */
export const onlyRedirects = (redirection: Redirection): string =>
  `it only redirects to ${inWords(redirection)}, and a proxy host needs an upstream`;
