import { isIP } from 'node:net';
import { maskUri } from '@sallyport/waf/mask-uri';
import type { ProxyLine } from '../../logs/proxy-line.ts';

/** What is written of a URI; the proxy itself tells no more (packages/haproxy, log-format.ts). */
const URI_LENGTH = 4_096;
const AGENT_LENGTH = 256;
const HOST_LENGTH = 253;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** What nginx writes when a client went away before its answer. */
const CLIENT_CLOSED = 499;

/** Refusals that say nothing new about a client: it is banned already, or the proxy could not tell. */
const NO_NEWS = new Set(['decision', 'unknown']);

/** `2026-11-22T04:49:18.123Z` as nginx writes it. */
const commonTime = (time: string): string => {
  const [year = '', month = '', day = ''] = time.slice(0, 10).split('-');
  return `${day}/${MONTHS[Number(month) - 1] ?? ''}/${year}:${time.slice(11, 19)} +0000`;
};

const escaped = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

/** A target as one word without a quote; that of HTTP/2 names scheme and host as well, which other lines don't. */
const targetOf = (uri: string): string => {
  const target = maskUri(uri.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')).replace(/[^\x21\x23-\x7e]/gu, escaped);
  return (target.startsWith('/') ? target : `/${target}`).slice(0, URI_LENGTH);
};

const agentOf = (agent: string): string =>
  agent.replaceAll('"', "'").replace(/\p{C}/gu, ' ').slice(0, AGENT_LENGTH).trim() || '-';

/**
 * A request as nginx writes it in its combined form with the host before it, without an end of line. Its fields are parted by spaces and
 * quotes, and none of what a client chose holds one that it should not: no field and no line can be forged. A name that nobody serves
 * is left out, so that whoever tries many is seen as one. Undefined for what tells nothing of a client.
 */
export const toAccessLine = (line: ProxyLine): string | undefined => {
  const { time, client, status, refused, host, host_id, method, uri, user_agent = '' } = line;
  if (isIP(client) === 0 || client.includes('%') || NO_NEWS.has(refused)) return undefined;
  // What never became a request, such as a handshake with something else.
  if (method === '' || method === '-') return undefined;
  const isServed = /^\d+$/.test(host_id) && host_id !== '0';
  const name = host
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, '-')
    .slice(0, HOST_LENGTH);
  const before = isServed && /^[a-z0-9]/.test(name) ? `${name} ` : '';
  const verb = method.replace(/\W/g, '_').slice(0, 32);
  const code = status >= 100 ? status : CLIENT_CLOSED;
  return `${before}${client} - - [${commonTime(time)}] "${verb} ${targetOf(uri)} HTTP/1.1" ${code} 0 "-" "${agentOf(user_agent)}"`;
};
