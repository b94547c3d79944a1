import { isKeptByClient } from '../certificates/automatic.ts';
import { type Beside, NEEDED } from '../certificates/beside.ts';
import type { Served } from '../certificates/pair.ts';
import { type Loss, loss } from '../loss.ts';
import type { ImportedHost } from '../reading.ts';
import { inForce, lastValueOf, resolved, type Scope } from './scope.ts';
import type { Server } from './server.ts';

/** Headers that a proxy host sends with just these values by itself. */
const SENT_ANYWAY: Readonly<Record<string, readonly string[]>> = {
  host: ['$host', '$http_host', '$host:$server_port', '$host:$port'],
  'x-real-ip': ['$remote_addr'],
  'x-forwarded-for': ['$proxy_add_x_forwarded_for', '$remote_addr'],
  'x-forwarded-proto': ['$scheme'],
  'x-forwarded-host': ['$host', '$http_host'],
  'x-forwarded-port': ['$server_port'],
  upgrade: ['$http_upgrade', 'websocket'],
  connection: ['upgrade', '$http_connection', '$connection_upgrade', '$connection_keep_alive'],
};

const OUR_MAX_AGE = 63_072_000;

/** What of the headers to the upstream is lost. */
export const aboutRequestHeaders = (scope: Scope): Loss[] => {
  const losses: Loss[] = [];
  const headers = inForce(scope, 'proxy_set_header');
  for (const { name, args } of headers) {
    const [field, value] = args.map(({ text }) => text.toLowerCase()) as [string, string];
    const isEmpty = value === '' && (field === 'connection' || field === 'upgrade');
    if (isEmpty || (Object.hasOwn(SENT_ANYWAY, field) && SENT_ANYWAY[field]!.includes(value))) continue;
    losses.push(loss(name, `the request header ${args[0]!.text} is not changed on the way to the upstream`));
  }
  return losses;
};

/** Whether the upstream sees its own name as `Host`, as nginx has it unless it is told otherwise. */
export const lacksHost = (scope: Scope): boolean =>
  !inForce(scope, 'proxy_set_header').some(({ args }) => args[0]!.text.toLowerCase() === 'host');

/** Whether WebSockets are passed on. */
export const passesUpgrades = (scope: Scope): boolean =>
  inForce(scope, 'proxy_set_header').some(
    ({ args }) => args[0]!.text.toLowerCase() === 'upgrade' && args[1]!.text !== '',
  );

/** Reads `add_header Strict-Transport-Security …`, and warns of the other headers. */
export const answerHeadersOf = (
  scope: Scope,
): { fields: Pick<ImportedHost, 'hsts_enabled' | 'hsts_subdomains'>; losses: Loss[] } => {
  const losses: Loss[] = [];
  let fields = {};
  for (const { name, args } of inForce(scope, 'add_header')) {
    const [field, value] = args.map(({ text }) => text) as [string, string];
    if (field.toLowerCase() !== 'strict-transport-security') {
      losses.push(loss(name, `the answer's header ${field} is not added`));
      continue;
    }
    const text = resolved(value, scope).toLowerCase();
    const maxAge = Number(/max-age="?(\d{1,15})/.exec(text)?.[1] ?? 0);
    if (maxAge === 0) {
      losses.push(loss(name, `Strict-Transport-Security is not taken over: ${value} says no time`));
      continue;
    }
    fields = { hsts_enabled: true, hsts_subdomains: text.includes('includesubdomains') };
    if (maxAge !== OUR_MAX_AGE) {
      losses.push(loss(name, `Strict-Transport-Security is sent for two years, not for ${maxAge} s`));
    }
    if (text.includes('preload')) losses.push(loss(name, 'Strict-Transport-Security is sent without preload'));
  }
  return { fields, losses };
};

/** The certificate among those that were uploaded that a server has for names of its own, and what is to be done without. */
export const certificateOf = ({ scope, secure, at }: Server, names: readonly string[], beside: Beside): Served => {
  if (!secure) return { losses: [] };
  const certificates = inForce(scope, 'ssl_certificate');
  const key = lastValueOf(scope, 'ssl_certificate_key');
  if (certificates.length === 0) return { losses: [loss(at, `this server has no certificate: ${NEEDED}`)] };
  const named = certificates.map(({ name, args }) => ({ at: name, certificate: args[0]?.text ?? '', key }));
  const isAutomatic = named.every(({ certificate }) => isKeptByClient(certificate));
  return { isAutomatic, ...beside.serve(named, names) };
};
