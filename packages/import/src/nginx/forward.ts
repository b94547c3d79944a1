import { type Loss, loss } from '../loss.ts';
import { shorten } from '../shorten.ts';
import { NginxError } from './error.ts';
import type { Directive } from './parse.ts';
import { named, resolved, type Scope } from './scope.ts';

/** Where requests go, or why it can't be said in terms of a proxy host. */
export type Target =
  | { scheme: 'http' | 'https'; host: string; port: number; isGrpc: boolean; losses: Loss[] }
  | { impossible: string };

/** `upstream` blocks by name, lower case. */
export type Upstreams = ReadonlyMap<string, Directive>;

const LEFT_OUT = new Set(['backup', 'down']);
const OF_UPSTREAM_ITSELF = new Set(['server', 'zone', 'keepalive', 'keepalive_requests', 'keepalive_timeout']);

/** Collects `upstream` blocks. Throws a `NginxError` for those that nginx would refuse. */
export const upstreamsOf = (directives: readonly Directive[]): Upstreams => {
  const found = new Map<string, Directive>();
  for (const one of named(directives, 'upstream')) {
    const name = one.args[0]!.text.toLowerCase();
    if (found.has(name)) throw new NginxError('this upstream is there twice', one.args[0]!, name);
    if (named(one.block ?? [], 'server').length === 0) {
      throw new NginxError('this upstream has no server', one.args[0]!, name);
    }
    found.set(name, one);
  }
  return found;
};

const AUTHORITY = /^(\[[0-9a-f:.]+\]|[^:/?#[\]\s]+)(?::([^:/?#]*))?$/i;

const addressOf = (text: string): { host: string; port: string | undefined } | undefined => {
  const found = AUTHORITY.exec(text);
  return found ? { host: found[1]!, port: found[2] } : undefined;
};

const fromUpstream = (upstream: Directive, losses: Loss[]): { host: string; port: number } | string => {
  const servers = named(upstream.block!, 'server');
  const isUsed = ({ args }: Directive) => !args.some(({ text }) => LEFT_OUT.has(text));
  const first = servers.find(isUsed) ?? servers[0]!;
  for (const one of servers) {
    if (one === first) continue;
    const text = one.args[0]?.text ?? '';
    losses.push(loss(one.name, `the upstream ${shorten(text)} is left out: a proxy host has one`));
  }
  for (const { name } of upstream.block!) {
    if (OF_UPSTREAM_ITSELF.has(name.text)) continue;
    losses.push(loss(name, `${name.text}: a proxy host has one upstream and does not balance load`));
  }
  const text = first.args[0]?.text ?? '';
  const address = addressOf(text);
  if (!address || text.startsWith('unix:')) return `its upstream ${shorten(text)} is no TCP port`;
  return { host: address.host, port: Number(address.port ?? 80) };
};

/** What may follow an upstream so that paths are passed on as they are. */
const SAME_PATH = /^(?:\/?\$request_uri|\/?\$uri(?:\$is_args\$args)?)?$/;

/** Where a `proxy_pass` or `grpc_pass` leads. Throws a `NginxError` for what nginx would refuse. */
export const targetOf = ({ name, args }: Directive, scope: Scope, path: string, upstreams: Upstreams): Target => {
  const written = args[0]!.text;
  const isGrpc = name.text === 'grpc_pass';
  const losses: Loss[] = [];
  let text = resolved(written, scope);
  if (isGrpc && !text.includes('://')) text = `grpc://${text}`;
  if (text.startsWith('$scheme:')) {
    losses.push(loss(name, 'the upstream is asked by https when the visitor is, in nginx; here always by http'));
    text = `http${text.slice(7)}`;
  }
  const found = /^(https?|grpcs?):\/\/([^/?#]*)(.*)$/is.exec(text);
  const shown = shorten(written);
  if (!found) {
    if (text.includes('$')) return { impossible: `its upstream ${shown} is only known when a request comes` };
    throw new NginxError('an upstream begins with http:// or https://', args[0]!, written);
  }
  const scheme = /s$/i.test(found[1]!) ? 'https' : 'http';
  // A path may be put in by a variable without a slash before it.
  const [, authority, glued] = /^([^$]*)((?:\$request_uri|\$uri|\$is_args).*)?$/s.exec(found[2]!) ?? [];
  if (authority === undefined) return { impossible: `its upstream ${shown} is only known when a request comes` };
  if (authority.startsWith('unix:')) return { impossible: `its upstream ${shown} is no TCP port` };
  const address = addressOf(authority);
  if (!address) throw new NginxError('this upstream is no host with a port', args[0]!, written);
  const rest = `${glued ?? ''}${found[3]}`;
  if (!SAME_PATH.test(rest) && !(rest === '/' && path === '/')) {
    losses.push(loss(name, `${shown} puts requests below another path; here paths are passed on as they are`, true));
  }
  const upstream = upstreams.get(address.host.toLowerCase());
  if (upstream) {
    if (address.port !== undefined) {
      throw new NginxError('a port does not go with the name of an upstream block', args[0]!, written);
    }
    const server = fromUpstream(upstream, losses);
    return typeof server === 'string' ? { impossible: server } : { scheme, ...server, isGrpc, losses };
  }
  const port = address.port ?? (scheme === 'https' ? '443' : '80');
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535) {
    throw new NginxError(`${shorten(port)} is no port`, args[0]!, written);
  }
  return { scheme, host: address.host, port: Number(port), isGrpc, losses };
};
