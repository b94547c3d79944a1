import { failureReason } from '@sallyport/haproxy/failure-reason';
import { maskUri } from '@sallyport/waf/mask-uri';
import type { ChildLine, ReadLine } from '../child-line.ts';

/** Its severities (management guide, "Logging"), after which it goes on by "(pid) : ". */
const SEVERITY = /^\[(NOTICE|WARNING|ALERT|DIAG)\]\s*\(\d+\)\s*: (.*)$/;
const LEVELS = { DIAG: 'debug', NOTICE: 'debug', WARNING: 'warn', ALERT: 'error' } as const;

/** Guards that come and go, and a server that listens for refusals or doesn't, are the supervisor's own news, told once and with the reason. */
const HEALTH_OF_GUARDS =
  /^((Backup )?Server (guards_\w+|relay|(traffic_)?gate)\/|(backend|proxy) '?(guards_\w+|relay|(traffic_)?gate)'? )/;

/** What our log format writes where it has nothing to say. */
const isSaid = (value: unknown): boolean => value !== '' && value !== '-' && value !== '-:-';

const requestLine = ({ time: _, termination, failure, tls, ...request }: Record<string, unknown>): ChildLine => {
  const fields = Object.fromEntries(Object.entries(request).filter(([, value]) => isSaid(value)));
  if (typeof fields.uri === 'string') fields.uri = maskUri(fields.uri);
  if (fields.refused !== undefined) return { level: 'info', message: 'request refused', fields };
  // How the connections ended tells a dead origin from a client that went away.
  if (Number(request.status) >= 500) {
    const reason = failureReason({ termination, failure, tls });
    return { level: 'warn', message: 'request failed', fields: { ...fields, ...(reason && { reason }), termination } };
  }
  // Names that nobody serves, broken requests: every public address gets them all day.
  return { level: 'debug', message: 'request not served', fields };
};

const parseRequest = (line: string): Record<string, unknown> | undefined => {
  try {
    return line.startsWith('{') ? JSON.parse(line) : undefined;
  } catch {
    return undefined;
  }
};

/** HAProxy's output: requests that it logs, on stdout, and what it says about itself, there and once more on stderr. */
export const readHaproxyLine: ReadLine = (line, from) => {
  if (from === 'stdout') {
    const request = parseRequest(line);
    return request ? requestLine(request) : { level: 'debug', message: line };
  }
  const [, severity, message = line] = SEVERITY.exec(line) ?? [];
  if (severity === undefined) return { level: 'warn', message };
  if (HEALTH_OF_GUARDS.test(message)) return { level: 'debug', message };
  return { level: LEVELS[severity as keyof typeof LEVELS], message };
};
