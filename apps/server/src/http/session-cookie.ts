import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';

/** Name of the cookie that holds a session token. */
export const SESSION_COOKIE = 'sallyport_session';
/**
 * Its name over TLS. Browsers take a cookie of that prefix only from the very host it is sent to (RFC 6265bis, section
 * 4.1.3.2): a site under the same domain, such as those we proxy, can't slip somebody its own session.
 */
export const SECURE_SESSION_COOKIE = `__Host-${SESSION_COOKIE}`;

/** Session tokens are base64url with dots, so nothing needs quoting (RFC 6265, section 4.1.1). */
const pairOf = (name: string) => new RegExp(`(?:^|;)[ \\t]*${name}="?([A-Za-z0-9._~-]+)"?[ \\t]*(?=;|$)`);
const PAIR = pairOf(SESSION_COOKIE);
const SECURE_PAIR = pairOf(SECURE_SESSION_COOKIE);

/**
 * Whether the browser speaks TLS, to us or to a proxy in front, which may not say so: then the page it comes from does.
 * A caller who lies about it only spoils its own cookie.
 */
const isSecure = ({ socket, headers }: IncomingMessage): boolean =>
  (socket as Partial<TLSSocket>).encrypted === true ||
  headers['x-forwarded-proto'] === 'https' ||
  headers.origin?.startsWith('https://') === true;

const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict';

const setCookie = (secure: boolean, value: string, lifetime: string): string =>
  secure
    ? `${SECURE_SESSION_COOKIE}=${value}; ${lifetime}; ${ATTRIBUTES}; Secure`
    : `${SESSION_COOKIE}=${value}; ${lifetime}; ${ATTRIBUTES}`;

/** The session token in a request's cookies; undefined when there is none. Over TLS only the name for TLS counts. */
export const readSessionCookie = (request: IncomingMessage): string | undefined => {
  const { cookie } = request.headers;
  if (cookie === undefined) return undefined;
  const [, secure] = SECURE_PAIR.exec(cookie) ?? [];
  return secure !== undefined || isSecure(request) ? secure : PAIR.exec(cookie)?.[1];
};

/** A Set-Cookie value that keeps `token` until it expires, out of reach of scripts and other sites. */
export const sessionCookie = (request: IncomingMessage, token: string, expiresAt: Date): string =>
  setCookie(isSecure(request), token, `Expires=${expiresAt.toUTCString()}`);

/** A Set-Cookie value that makes the browser forget the session it sent. */
export const clearedSessionCookie = (request: IncomingMessage): string =>
  setCookie(isSecure(request) || SECURE_PAIR.test(request.headers.cookie ?? ''), '', 'Max-Age=0');
