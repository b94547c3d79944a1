import { isIP } from 'node:net';
import type { Directive, Handler, ReverseProxy } from '@sallyport/caddyfile';
import { type Loss, loss } from '../loss.ts';
import type { ImportedHost } from '../reading.ts';

/** The fields of a proxy host that say where requests go. */
export type Forward = Pick<
  ImportedHost,
  'forward_scheme' | 'forward_host' | 'forward_port' | 'forward_verify_tls' | 'forward_http2' | 'websocket_support'
>;

/** Where a `reverse_proxy` leads in terms of a proxy host, or why it can't be said in them. */
export type Forwarding = { forward: Forward; losses: Loss[] } | { impossible: string };

/** Go takes no host, and the address of all, for the machine itself. */
const OWN = new Map([
  ['', 'localhost'],
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

/** Name and port of `dynamic a NAME PORT`, or of its block. */
const lookedUp = ({ args, block }: Directive): { host: string; port: number } | undefined => {
  if (args[0]?.text !== 'a') return undefined;
  const setting = (name: string) => block?.find((one) => one.name.text === name)?.args[0]?.text;
  const [host, port] = [args[1]?.text ?? setting('name') ?? '', args[2]?.text ?? setting('port') ?? '80'];
  return host === '' || host.includes('{') || !/^\d{1,5}$/.test(port) ? undefined : { host, port: Number(port) };
};

const targetOf = (proxy: ReverseProxy): { host: string; port: number } | string => {
  if (proxy.transport !== 'http') return `its upstream speaks ${proxy.transport}, not HTTP`;
  const [first] = proxy.upstreams;
  if (first === undefined) {
    if (proxy.dynamic === undefined) return 'its reverse_proxy has no upstream';
    return lookedUp(proxy.dynamic) ?? 'its upstreams are looked up in a way that a proxy host can not';
  }
  if (first.network !== 'tcp') return `its upstream ${first.token.text} is no TCP port`;
  const port = first.ports?.first;
  if (first.isDynamic || port === undefined)
    return `its upstream ${first.token.text} is only known when a request comes`;
  return { host: OWN.get(first.host) ?? first.host, port };
};

/** What the certificate of the upstream is checked by; a proxy host knows the system's authorities and its own name. */
const OF_VERIFICATION = new Set(['tls_server_name', 'tls_trust_pool', 'tls_trusted_ca_certs', 'tls_trusted_ca_pool']);

const aboutUpstreams = (proxy: ReverseProxy): Loss[] => {
  const [first, ...rest] = proxy.upstreams;
  const losses = rest.map(({ token }) => loss(token, `the upstream ${token.text} is left out: a proxy host has one`));
  if (first?.ports && first.ports.last > first.ports.first) {
    losses.push(
      loss(first.token, `of the ports ${first.token.text} only the first is used: a proxy host has one upstream`),
    );
  }
  if (first && proxy.dynamic) losses.push(loss(proxy.dynamic.name, 'upstreams that are looked up are left out'));
  return losses;
};

/** Headers that a proxy host sends with just this value by itself. */
const SENT_ANYWAY: Readonly<Record<string, readonly string[]>> = {
  host: ['{host}', '{hostport}', '{http.request.host}', '{http.request.hostport}'],
  'x-real-ip': ['{remote_host}', '{http.request.remote.host}', '{client_ip}'],
  'x-forwarded-for': ['{remote_host}', '{http.request.remote.host}', '{client_ip}', '{remote}'],
  'x-forwarded-proto': ['{scheme}', '{http.request.scheme}'],
  'x-forwarded-host': ['{host}', '{hostport}', '{http.request.host}', '{http.request.hostport}'],
  'x-forwarded-port': ['{port}', '{server_port}', '{http.request.port}'],
  upgrade: ['{http.request.header.upgrade}', '{header.upgrade}', '{>upgrade}'],
  connection: ['{http.request.header.connection}', '{header.connection}', '{>connection}'],
};

const isSentAnyway = ({ name, args }: Directive): boolean => {
  if (name.text !== 'header_up' || args.length !== 2) return false;
  const [field, value] = args.map(({ text }) => text.toLowerCase()) as [string, string];
  return Object.hasOwn(SENT_ANYWAY, field) && SENT_ANYWAY[field]!.includes(value);
};

const aboutSetting = ({ name, args }: Directive): Loss => {
  const what = name.text;
  const field = args[0]?.text.replace(/^[+\-?]/, '') ?? '';
  if (what === 'header_up') return loss(name, `the request header ${field} is not changed on the way to the upstream`);
  if (what === 'header_down') return loss(name, `the answer's header ${field} is not changed`);
  if (what.startsWith('health_') || /^(?:fail_duration|max_fails|unhealthy_)/.test(what)) {
    return loss(name, `${what}: a proxy host does not check the health of its upstream`);
  }
  if (what.startsWith('lb_')) return loss(name, `${what}: a proxy host has one upstream and does not balance load`);
  if (what === 'rewrite')
    return loss(name, 'rewrite of reverse_proxy: paths are passed on as they are, also those beside it', true);
  return loss(name, `${what} of reverse_proxy is not taken over`);
};

/** What a `reverse_proxy` says in terms of a proxy host. */
export const forwardingOf = ({ proxy, directive }: Handler): Forwarding => {
  if (!proxy) return { impossible: 'it has no reverse_proxy' };
  const target = targetOf(proxy);
  if (typeof target === 'string') return { impossible: target };
  const losses = [
    ...aboutUpstreams(proxy),
    ...proxy.settings.filter((setting) => !isSentAnyway(setting)).map(aboutSetting),
    ...proxy.transportSettings.map(({ name }) =>
      loss(
        name,
        OF_VERIFICATION.has(name.text)
          ? `${name.text}: the upstream's certificate is checked against the system's authorities and the upstream's own name`
          : `${name.text} of the transport is not taken over`,
      ),
    ),
  ];
  const isAddress = isIP(target.host) !== 0;
  if (proxy.tls && !proxy.insecure && isAddress) {
    losses.push(
      loss(directive.name, `the certificate of ${target.host} is not checked: that needs a name, not an address`),
    );
  }
  const speaksOnlyHttp2 = proxy.versions !== undefined && !proxy.versions.some((version) => version.startsWith('1'));
  return {
    forward: {
      forward_scheme: proxy.tls ? 'https' : 'http',
      forward_host: target.host,
      forward_port: target.port,
      // Caddy passes upgrades by itself.
      websocket_support: true,
      ...(proxy.tls && { forward_verify_tls: !proxy.insecure && !isAddress }),
      ...(speaksOnlyHttp2 && { forward_http2: true }),
    },
    losses,
  };
};
