import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';

/** Name of the cookie that holds a session token. */
export const SESSION_COOKIE = 'sallyport_session';
/** Session tokens are base64url with dots, so nothing needs quoting (RFC 6265, section 4.1.1). */
const PAIR = new RegExp(`(?:^|;)[ \\t]*${SESSION_COOKIE}="?([A-Za-z0-9._~-]+)"?[ \\t]*(?=;|$)`);

/**
 * Whether the browser speaks TLS, to us or to a proxy in front, which may not say so: then the page it comes from does.
 * A caller who lies about it only spoils its own cookie.
 */
const isSecure = ({ socket, headers }: IncomingMessage): boolean =>
  (socket as Partial<TLSSocket>).encrypted === true ||
  headers['x-forwarded-proto'] === 'https' ||
  headers.origin?.startsWith('https://') === true;

const attributes = (request: IncomingMessage): string =>
  `Path=/; HttpOnly; SameSite=Strict${isSecure(request) ? '; Secure' : ''}`;

/** The session token in a request's cookies; undefined when there is none. */
export const readSessionCookie = ({ headers: { cookie } }: IncomingMessage): string | undefined =>
  cookie === undefined ? undefined : PAIR.exec(cookie)?.[1];

/** A Set-Cookie value that keeps `token` until it expires, out of reach of scripts and other sites. */
export const sessionCookie = (request: IncomingMessage, token: string, expiresAt: Date): string =>
  `${SESSION_COOKIE}=${token}; Expires=${expiresAt.toUTCString()}; ${attributes(request)}`;

/** A Set-Cookie value that makes the browser forget the session. */
export const clearedSessionCookie = (request: IncomingMessage): string =>
  `${SESSION_COOKIE}=; Max-Age=0; ${attributes(request)}`;
