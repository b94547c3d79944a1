import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { SecurityEvent } from './security-event.ts';

/** The line that the data plane's log-format makes (packages/haproxy, defaults section). */
const ProxyLine = Type.Object({
  time: Type.String({ maxLength: 32, pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,6})?Z$' }),
  client: Type.String({ maxLength: 64 }),
  reference: Type.String({ minLength: 1, maxLength: 128 }),
  status: Type.Integer({ minimum: -1, maximum: 999 }),
  refused: Type.String({ maxLength: 32 }),
  host: Type.String({ maxLength: 1_024 }),
  host_id: Type.String({ maxLength: 16 }),
  method: Type.String({ maxLength: 64 }),
  uri: Type.String({ maxLength: 65_536 }),
});
type ProxyLine = Static<typeof ProxyLine>;

const check = Compile(ProxyLine);
const MAX_LINE_LENGTH = 128 * 1024;
const MAX_URI_LENGTH = 4_096;

const REASONS = {
  decision: 'the address is banned',
  rate_limit: 'too many requests',
  exploit: 'the path or query looks like an exploit probe',
  websocket: 'this host does not take WebSocket connections',
  guard: 'no verdict in time',
} as const;

const isReason = (text: string): text is keyof typeof REASONS => Object.hasOwn(REASONS, text);

const parseJson = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

const toEvent = (line: ProxyLine, layer: keyof typeof REASONS): SecurityEvent => ({
  reference: line.reference,
  timestamp: new Date(line.time).toISOString(),
  layer,
  monitored: false,
  status: line.status,
  reason: REASONS[layer],
  ip: line.client,
  host: line.host.slice(0, 255),
  host_id: /^\d{1,10}$/.test(line.host_id) && line.host_id !== '0' ? Number(line.host_id) : null,
  method: line.method,
  request_uri: line.uri.slice(0, MAX_URI_LENGTH),
  user_agent: '',
  rule_id: null,
  variable: null,
  value: null,
  matches: [],
});

/** Tells whether a line has the form of HAProxy's log, whatever it is about. */
export const isProxyLine = (line: string): boolean => check.Check(parseJson(line));

/**
 * Reads one line that HAProxy wrote to its standard output. Undefined for anything but a refusal of ours: notices,
 * failed origins, lines that are no JSON or not of this form.
 */
export const parseProxyLine = (line: string): SecurityEvent | undefined => {
  if (line.length > MAX_LINE_LENGTH || !line.startsWith('{')) return undefined;
  const value = parseJson(line);
  if (!check.Check(value) || !isReason(value.refused) || Number.isNaN(Date.parse(value.time))) return undefined;
  return toEvent(value, value.refused);
};
