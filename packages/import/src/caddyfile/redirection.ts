import type { Handler } from '@sallyport/caddyfile';
import type { Redirection } from '../redirection.ts';

/** What Caddy calls some codes. */
const CODES = new Map([
  ['permanent', '301'],
  ['temporary', '302'],
  ['html', '200, by a page'],
]);

/** What a `redir` says; undefined for another directive. */
export const redirectionOf = ({ name, args }: Handler): Redirection | undefined => {
  if (name !== 'redir') return undefined;
  const [to = '', code = '302'] = args.map(({ text }) => text);
  return { to, code: CODES.get(code) ?? code };
};
