import { type Draft, shorten } from '../draft.ts';
import { type Loss, loss } from '../loss.ts';
import type { Line, Section } from './parse.ts';

/** Where a backend leads in terms of a proxy host, or why it can't be said in them. */
export type Target = { fields: Draft['fields']; losses: Loss[] } | { impossible: string };

/** Lines that are read elsewhere, or of no meaning to a proxy host. */
const READ = new Set(['acl', 'bind', 'default_backend', 'description', 'id', 'mode', 'server', 'use_backend']);
const NO_LOSS =
  /^(?:option (?:forwardfor|httplog|http-server-close|dontlognull|tcplog|redispatch|http-keep-alive)|timeout|maxconn|log)\b/;
const KEEPS =
  /^(?:http-request|tcp-request \S+) (?:deny|auth|reject|tarpit|silent-drop|return|use-service|lua\.\S+|wait-for-\S+)\b|^(?:block|reqdeny|filter|use-server|errorfile|stats)\b/;
const OF_ANSWERS =
  /^(?:http-response|http-after-response|compression|http-send-name-header|cookie|balance|option|retries|retry-on|hash-type|http-check|default-server|http-reuse|fullconn|errorloc|monitor-uri|capture|unique-id-\S+|log-\S+|rate-limit|backlog|tcp-check|stick|stick-table|load-server-state-from-file|email-alert|dispatch|source|declare|force-persist|ignore-persist|persist|server-template|external-check|guid|enabled|disabled|bind-process|grace|clitcpka-\S+|srvtcpka-\S+)\b/;
const SENT_ANYWAY = /^http-request (?:set|add)-header x-forwarded-(?:proto|for|host|port) /i;

/** What of a section's lines, but for those that say where requests go, is lost. */
export const lossesIn = ({ lines }: Section): Loss[] =>
  lines.flatMap(({ at, words }): Loss[] => {
    const text = words.join(' ');
    if (READ.has(words[0]!) || NO_LOSS.test(text) || SENT_ANYWAY.test(text) || / scheme https\b/.test(text)) return [];
    if (/^(?:http-request )?redirect\b/.test(text)) return [loss(at, `${shorten(text)}: nothing is redirected`)];
    if (KEEPS.test(text)) {
      return [
        loss(at, `${shorten(text)} may keep requests out, which is not taken over: give the host an access list`, true),
      ];
    }
    if (OF_ANSWERS.test(text) || /^(?:http|tcp)-request\b/.test(text))
      return [loss(at, `${shorten(text)} is not taken over`)];
    return [loss(at, `${shorten(text)} is not known and not taken over: it may have kept requests out`, true)];
  });

const isAside = ({ words }: Line): boolean => words.includes('backup') || words.includes('disabled');

/** Reads where a backend leads. */
export const targetOf = (backend: Section, isTcp: boolean): Target => {
  if (isTcp) return { impossible: `${backend.kind} ${shorten(backend.name)} has mode tcp, not http` };
  const servers = backend.lines.filter(({ words }) => words[0] === 'server');
  const first = servers.find((one) => !isAside(one)) ?? servers[0];
  if (!first) return { impossible: `${backend.kind} ${shorten(backend.name)} has no server` };
  const losses = servers
    .filter((one) => one !== first)
    .map(({ at, words }) => loss(at, `the upstream ${shorten(words[2] ?? '')} is left out: a proxy host has one`));
  const defaults = backend.lines
    .filter(({ words }) => words[0] === 'default-server')
    .flatMap(({ words }) => words.slice(1));
  const options = [...first.words.slice(3), ...defaults];
  const address = /^(?:ipv[46]@)?(\[[0-9a-f:.]+\]|[^:@/\s]+):(\d{1,5})$/i.exec(first.words[2] ?? '');
  if (!address) return { impossible: `its upstream ${shorten(first.words[2] ?? '')} is no host with a port` };
  const isSecure = options.includes('ssl');
  const speaksHttp2 = options[options.indexOf('proto') + 1] === 'h2' || options[options.indexOf('alpn') + 1] === 'h2';
  if (options.includes('check'))
    losses.push(loss(first.at, 'check: a proxy host does not check the health of its upstream'));
  if (/\bsend-proxy/.test(options.join(' '))) losses.push(loss(first.at, 'send-proxy is not taken over'));
  if (options.includes('crt')) losses.push(loss(first.at, 'crt: the upstream is shown no certificate'));
  const fields: Draft['fields'] = {
    forward_scheme: isSecure ? 'https' : 'http',
    forward_host: address[1]!,
    forward_port: Number(address[2]),
    // HAProxy passes upgrades by itself.
    websocket_support: true,
    ...(isSecure && { forward_verify_tls: options[options.indexOf('verify') + 1] !== 'none' }),
    ...(speaksHttp2 && { forward_http2: true }),
  };
  return { fields, losses };
};
