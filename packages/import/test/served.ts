import type { Address, CaddyfileMeaning, Handler, ReverseProxy, Site, Upstream } from '@sallyport/caddyfile';

/** What is served at a port: to which hosts (none for all) and where their requests may go, in the order of asking. */
export interface Served {
  port: number;
  hosts: string[];
  proxies: { dials: string[]; dynamic: string; tls: boolean; insecure: boolean; versions: string; transport: string }[];
}

interface Route {
  match?: { host?: string[]; path?: string[] }[];
  handle?: AdaptedHandler[];
  terminal?: boolean;
}

interface AdaptedHandler {
  handler: string;
  routes?: Route[];
  upstreams?: { dial?: string; lookup_srv?: string }[];
  dynamic_upstreams?: { source: string; name?: string; port?: string };
  transport?: { protocol: string; tls?: { insecure_skip_verify?: boolean }; versions?: string[] };
}

const proxiesIn = (routes: readonly Route[]): Served['proxies'] =>
  routes.flatMap(({ handle = [] }) =>
    handle.flatMap((one) => {
      if (one.handler === 'subroute') return proxiesIn(one.routes ?? []);
      if (one.handler !== 'reverse_proxy') return [];
      const { transport, upstreams = [], dynamic_upstreams: looked } = one;
      return [
        {
          dials: upstreams.map(({ dial, lookup_srv }) => dial?.replace(/^tcp\//, '') ?? `srv ${lookup_srv}`),
          dynamic: looked ? [looked.source, looked.name, looked.port].join(' ').trim() : '',
          tls: transport?.tls !== undefined,
          insecure: transport?.tls?.insecure_skip_verify ?? false,
          versions: transport?.versions?.join(' ') ?? '',
          transport: transport?.protocol ?? 'http',
        },
      ];
    }),
  );

/** In one order, each once: what listens at two addresses of one port is one. */
const sorted = (all: readonly Served[]): Served[] => {
  const found = all.filter(({ proxies }) => proxies.length > 0).map((one) => JSON.stringify(one));
  return [...new Set(found)].sort().map((one) => JSON.parse(one));
};

/** What Caddy's JSON configuration serves. */
export const servedByJson = (config: unknown): Served[] => {
  const servers = (config as { apps?: { http?: { servers?: Record<string, { listen: string[]; routes?: Route[] }> } } })
    .apps?.http?.servers;
  return sorted(
    Object.values(servers ?? {}).flatMap(({ listen, routes = [] }) => {
      // Sites stand side by side, each one final; a single one that is for all hosts is laid bare.
      const sites = routes.every(({ terminal }) => terminal) ? routes : [{ handle: [{ handler: 'subroute', routes }] }];
      return listen.flatMap((address) =>
        sites.map((site): Served => {
          const hosts = [...new Set(site.match?.flatMap(({ host = [] }) => host) ?? [])].sort();
          return { port: Number(address.split(':').at(-1)), hosts, proxies: proxiesIn([site]) };
        }),
      );
    }),
  );
};

const dialOf = ({ network, host, ports, token }: Upstream): string => {
  if (network === 'unix') return `unix/${host}`;
  if (network === 'srv') return `srv ${host}`;
  if (ports === undefined) return token.text;
  const { first, last } = ports;
  const named = network === 'tcp' ? '' : `${network}/`;
  return `${named}${host.includes(':') ? `[${host}]` : host}:${first === last ? first : `${first}-${last}`}`;
};

const toProxy = ({
  upstreams,
  dynamic,
  tls,
  insecure,
  versions,
  transport,
}: ReverseProxy): Served['proxies'][number] => {
  const looked = dynamic?.args.map(({ text }) => text).join(' ') ?? '';
  return {
    dials: upstreams.map(dialOf),
    dynamic: looked,
    tls,
    insecure,
    versions: versions?.join(' ') ?? '',
    transport,
  };
};

const proxiesOf = (handlers: readonly Handler[]): Served['proxies'] =>
  handlers.flatMap(({ proxy, inner }) => [...(proxy ? [toProxy(proxy)] : []), ...proxiesOf(inner ?? [])]);

/** What we take Caddyfiles to serve. */
export const servedByMeaning = ({ sites, options }: CaddyfileMeaning): Served[] => {
  const portOf = ({ port, scheme }: Address) => port ?? (scheme === 'http' ? options.httpPort : options.httpsPort);
  const ofSite = ({ addresses, handlers }: Site): Served[] => {
    const byPort = Map.groupBy(addresses, portOf);
    return Array.from(byPort, ([port, some]) => {
      const hosts = [...new Set(some.map(({ host }) => host))].sort();
      return { port, hosts: hosts.includes('') ? [] : hosts, proxies: proxiesOf(handlers) };
    });
  };
  return sorted(sites.flatMap(ofSite));
};
