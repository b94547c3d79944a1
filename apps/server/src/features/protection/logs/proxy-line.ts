import { compileCheck } from '@sallyport/contract/check';
import { type Static, Type } from '@sallyport/contract/schema';
import { isUuid } from '../../../net/uuid.ts';
import type { SecurityEvent } from './security-event.ts';

/** The line that the data plane's log-format makes (packages/haproxy, defaults section). */
const ProxyLine = Type.Object({
  time: Type.String({ maxLength: 32, pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,6})?Z$' }),
  client: Type.String({ maxLength: 64 }),
  reference: Type.String({ minLength: 1, maxLength: 128 }),
  status: Type.Integer({ minimum: -1, maximum: 999 }),
  refused: Type.String({ maxLength: 32 }),
  // Clients choose these, and long ones must not hide a refusal: they are cut after reading.
  host: Type.String(),
  host_id: Type.String({ maxLength: 16 }),
  method: Type.String(),
  /** `<source>/<uuid>` of the decision that bans the client; `-`, empty or absent: none. */
  decision: Type.Optional(Type.String({ maxLength: 128 })),
  /** `-`, empty or absent: the request named none. */
  user_agent: Type.Optional(Type.String()),
  uri: Type.String(),
  /** What became of the connection to the origin; `-` for nothing worth a word. */
  origin: Type.Optional(Type.String({ maxLength: 64 })),
  termination: Type.Optional(Type.String({ maxLength: 8 })),
  failure: Type.Optional(Type.String({ maxLength: 256 })),
  tls: Type.Optional(Type.String({ maxLength: 1_024 })),
});
export type ProxyLine = Static<typeof ProxyLine>;

const check = compileCheck(ProxyLine);
const MAX_LINE_LENGTH = 128 * 1024;
const MAX_URI_LENGTH = 4_096;
const MAX_AGENT_LENGTH = 1_024;

const REASONS = {
  decision: 'the address is banned',
  rate_limit: 'too many requests',
  exploit: 'the path or query looks like an exploit probe',
  websocket: 'this host does not take WebSocket connections',
  guard: 'no verdict',
  unknown: 'HAProxy does not know what bans and limits there are',
} as const;

const isReason = (text: string): text is keyof typeof REASONS => Object.hasOwn(REASONS, text);

const parseJson = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

/** Who decides, in words; another program by its own name. */
const DECIDERS: Readonly<Record<string, string>> = { manual: 'by hand', crowdsec: 'by CrowdSec' };

const reasonOf = ({ decision = '' }: ProxyLine, layer: keyof typeof REASONS): string => {
  const [source = '', uuid = '', ...rest] = decision.split('/');
  if (layer !== 'decision' || !isUuid(uuid) || rest.length > 0) return REASONS[layer];
  return `${REASONS.decision} ${DECIDERS[source] ?? `by ${source}`} (decision ${uuid})`;
};

/** What the client calls itself; empty, as guards tell it, of a request that names nothing: HAProxy writes a dash there. */
const agentOf = ({ user_agent = '' }: ProxyLine): string => (user_agent === '-' ? '' : user_agent);

const toEvent = (line: ProxyLine, layer: keyof typeof REASONS): SecurityEvent => ({
  reference: line.reference,
  timestamp: new Date(line.time).toISOString(),
  // What could not be checked is told alike, whoever lacked the data.
  layer: layer === 'unknown' ? 'guard' : layer,
  monitored: false,
  status: line.status,
  reason: reasonOf(line, layer),
  ip: line.client,
  host: line.host.slice(0, 255),
  host_id: /^\d{1,10}$/.test(line.host_id) && line.host_id !== '0' ? Number(line.host_id) : null,
  method: line.method.slice(0, 64),
  request_uri: line.uri.slice(0, MAX_URI_LENGTH),
  user_agent: agentOf(line).slice(0, MAX_AGENT_LENGTH),
  rule_id: null,
  variable: null,
  value: null,
  matches: [],
});

const URI_FIELD = ',"uri":"';

/**
 * Reads a line whose end is missing: HAProxy cuts lines at a length that a URI can reach. What comes before the URI is
 * whole, and of the URI what is there is taken. Quotes in values are escaped, so the field can't be forged.
 */
const parseCut = (line: string): unknown => {
  const at = line.indexOf(URI_FIELD);
  const head = at === -1 ? undefined : parseJson(`${line.slice(0, at)}}`);
  if (typeof head !== 'object' || head === null) return undefined;
  const uri = line.slice(at + URI_FIELD.length).slice(0, MAX_URI_LENGTH);
  // The cut may have gone through an escape of up to six characters.
  for (let less = 0; less < 6; less += 1) {
    const text = parseJson(`"${uri.slice(0, uri.length - less)}"`);
    if (typeof text === 'string') return { ...head, uri: text };
  }
  return { ...head, uri: '' };
};

/** Reads one line of HAProxy's log, whatever it is about; undefined for one of another form, such as a notice. */
export const readProxyLine = (line: string): ProxyLine | undefined => {
  if (line.length > MAX_LINE_LENGTH || !line.startsWith('{')) return undefined;
  const value = parseJson(line) ?? parseCut(line);
  return check.accepts(value) && !Number.isNaN(Date.parse(value.time)) ? value : undefined;
};

/**
 * What HAProxy refused by itself. Undefined for anything else: failed origins, broken requests, and what guards refused, which
 * they tell themselves.
 */
export const toRefusal = (line: ProxyLine): SecurityEvent | undefined =>
  isReason(line.refused) ? toEvent(line, line.refused) : undefined;
