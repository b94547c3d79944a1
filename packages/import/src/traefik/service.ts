import type { Draft } from '../draft.ts';
import { type Loss, loss } from '../loss.ts';
import { shorten } from '../shorten.ts';
import type { Dynamic } from './dynamic.ts';
import { withoutProvider } from './middlewares.ts';
import type { Tree } from './tree.ts';

/** Where a service leads in terms of a proxy host, or why it can't be said in them. */
export type Target = { fields: Draft['fields']; losses: Loss[] } | { impossible: string };

const addressOf = (url: string): { scheme: string; host: string; port: number } | undefined => {
  const found = /^(https?|h2c):\/\/(\[[0-9a-f:.]+\]|[^:/?#[\]\s]+)(?::(\d{1,5}))?(?:[/?#].*)?$/i.exec(url);
  if (!found) return undefined;
  const scheme = found[1]!.toLowerCase();
  return { scheme, host: found[2]!, port: Number(found[3] ?? (scheme === 'https' ? 443 : 80)) };
};

const ABOUT: Readonly<Record<string, string>> = {
  healthcheck: 'a proxy host does not check the health of its upstream',
  sticky: 'a proxy host has one upstream',
  passhostheader: "the upstream always gets the visitor's Host",
  responseforwarding: 'answers are passed on as they come',
};

const urlOf = (balancer: Tree, service: Tree, { containers }: Dynamic, losses: Loss[]): string | undefined => {
  const servers = balancer.fields.get('servers')?.items ?? [];
  const [first, ...others] = servers;
  for (const { at, fields } of others) {
    losses.push(loss(at, `the upstream ${shorten(fields.get('url')?.text ?? '')} is left out: a proxy host has one`));
  }
  const url = first?.fields.get('url')?.text;
  const container = containers.get(service);
  if (url !== undefined || !container) return url;
  const server = balancer.fields.get('server')?.fields;
  const port = server?.get('port')?.text ?? container.port;
  if (port === undefined) return undefined;
  losses.push(loss(service.at, `${container.host} is the name of a container: it has to be reachable from here by it`));
  return server?.get('url')?.text ?? `${server?.get('scheme')?.text ?? 'http'}://${container.host}:${port}`;
};

/** Where a router's service leads. */
export const targetOf = (router: Tree, dynamic: Dynamic): Target => {
  const name = router.fields.get('service')?.text;
  if (name === undefined) return { impossible: 'its router names no service' };
  const service = dynamic.services.get(withoutProvider(name));
  if (!service) return { impossible: `its service ${shorten(name)} is not in the files` };
  const balancer = service.fields.get('loadbalancer') ?? (dynamic.containers.has(service) ? service : undefined);
  if (!balancer)
    return { impossible: `its service ${shorten(name)} spreads requests in a way that a proxy host can not` };
  const losses: Loss[] = [];
  const url = urlOf(balancer, service, dynamic, losses);
  if (url === undefined) return { impossible: `its service ${shorten(name)} has no server with a port` };
  const address = addressOf(url);
  if (!address) return { impossible: `its upstream ${shorten(url)} is no address of a web server` };
  if (/^[a-z0-9]+:\/\/[^/]+\/./i.test(url))
    losses.push(loss(service.at, `${shorten(url)}: the path is left out`, true));
  for (const [key, about] of Object.entries(ABOUT)) {
    const setting = balancer.fields.get(key);
    const isUsual = key === 'passhostheader' && setting?.text !== 'false';
    if (setting && !isUsual) losses.push(loss(setting.at, `${key}: ${about}`));
  }
  const transportName = balancer.fields.get('serverstransport')?.text;
  const transport = transportName === undefined ? undefined : dynamic.transports.get(withoutProvider(transportName));
  if (transportName !== undefined && !transport) {
    losses.push(loss(service.at, `the transport ${shorten(transportName)} is not in the files`));
  }
  for (const [key, { at }] of transport?.fields ?? []) {
    if (key !== 'insecureskipverify') losses.push(loss(at, `${shorten(key)} of the transport is not taken over`));
  }
  const isSecure = address.scheme === 'https';
  const verifies = transport?.fields.get('insecureskipverify')?.text !== 'true';
  const fields: Draft['fields'] = {
    forward_scheme: isSecure ? 'https' : 'http',
    forward_host: address.host,
    forward_port: address.port,
    // Traefik passes upgrades by itself.
    websocket_support: true,
    ...(isSecure && { forward_verify_tls: verifies }),
    ...(address.scheme === 'h2c' && { forward_http2: true }),
  };
  return { fields, losses };
};
