import { type Loss, loss } from '../loss.ts';
import { shorten } from '../shorten.ts';
import type { Line, Section } from './parse.ts';
import { REDIRECT } from './redirects.ts';

/** Lines that are read elsewhere, or of no meaning to a proxy host. */
const READ = new Set(['acl', 'bind', 'default_backend', 'description', 'id', 'mode', 'server', 'use_backend']);
const NO_LOSS =
  /^(?:option (?:forwardfor|httplog|http-server-close|dontlognull|tcplog|redispatch|http-keep-alive)|timeout|maxconn|log|enabled)\b/;
const KEEPS =
  /^(?:http-request|tcp-request \S+) (?:deny|auth|reject|tarpit|silent-drop|return|use-service|lua\.\S+|wait-for-\S+)\b|^(?:block|reqdeny|filter|use-server)\b/;
const OF_ANSWERS =
  /^(?:http-response|http-after-response|compression|http-send-name-header|cookie|balance|option|retries|retry-on|hash-type|http-check|default-server|http-reuse|fullconn|errorfiles?|errorloc|http-error|stats|monitor-uri|capture|unique-id-\S+|log-\S+|rate-limit|backlog|tcp-check|stick|stick-table|load-server-state-from-file|email-alert|dispatch|source|declare|force-persist|ignore-persist|persist|server-template|external-check|guid|bind-process|grace|clitcpka-\S+|srvtcpka-\S+)\b/;
const SENT_ANYWAY = /^http-request (?:set|add)-header x-forwarded-(?:proto|for|host|port) /i;
const MOVES = /^http-request set-(?:path|pathq|uri)\b/;

const lossOf = ({ at, words }: Line): Loss | undefined => {
  const text = words.join(' ');
  if (READ.has(words[0]!) || NO_LOSS.test(text) || SENT_ANYWAY.test(text) || REDIRECT.test(text)) return undefined;
  const shown = shorten(text);
  if (KEEPS.test(text))
    return loss(at, `${shown} may keep requests out, which is not taken over: give the host an access list`, true);
  if (words[0] === 'disabled') return loss(at, 'it is switched off in HAProxy', true);
  if (MOVES.test(text)) return loss(at, `${shown}: paths are passed on as they are, also those beside it`, true);
  if (OF_ANSWERS.test(text) || /^(?:http|tcp)-request\b/.test(text)) return loss(at, `${shown} is not taken over`);
  return loss(at, `${shown} is not known and not taken over: it may have kept requests out`, true);
};

/** More than a host shows; each of ten thousand hosts has those of its frontend. */
const MOST_LOSSES = 200;

/** What of a section's lines, but for those that say where requests go or are redirected to, is lost: first what kept requests out. */
export const lossesIn = ({ lines }: Section): Loss[] => {
  const losses = lines.flatMap((line) => lossOf(line) ?? []);
  if (losses.length <= MOST_LOSSES) return losses;
  return losses.toSorted((a, b) => Number(b.keptOut) - Number(a.keptOut)).slice(0, MOST_LOSSES);
};
