import { CaddyfileError, show } from '../text/error.ts';
import type { Token } from '../text/token.ts';
import { splitHostPort } from './address.ts';

export interface PortRange {
  first: number;
  last: number;
}

/** Where requests are sent to. */
export interface Upstream {
  token: Token;
  scheme: 'http' | 'https' | 'h2c' | '';
  /** `tcp`, `unix`, `fd`, or another network that Go knows. */
  network: string;
  /** Name or address, or the path of a socket; empty for the machine itself. */
  host: string;
  /** The same twice unless it is a range; undefined for a socket or a placeholder. */
  ports: PortRange | undefined;
  /** Whether host or port are only known when a request comes. */
  isDynamic: boolean;
}

const MAX_PORT = 65_535;

const portsOf = (text: string): PortRange | undefined => {
  const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const [first, last] = [Number(from), Number(to)];
  return first <= last && last <= MAX_PORT ? { first, last } : undefined;
};

const DEFAULT_PORT = { http: '80', h2c: '80', '': '80', https: '443' } as const;

/** Reads `host:port`, `scheme://host:port`, `network/host:port` or `unix//path`; ports may be ranges. */
export const parseUpstream = (token: Token): Upstream => {
  const refuse = (why: string) => new CaddyfileError(`the upstream ${show(token.text)} ${why}`, token, token.text);
  const { text } = token;
  if (text.includes('{$')) throw refuse('needs an environment variable that is not known here');
  // Caddy 2.6 looked these up; later versions want `dynamic srv`.
  if (text.startsWith('srv+')) {
    const name = text.slice(4).replace(/^https?:\/\//, '');
    return {
      token,
      scheme: text.startsWith('srv+https:') ? 'https' : '',
      network: 'srv',
      host: name,
      ports: undefined,
      isDynamic: true,
    };
  }
  const isDynamic = text.includes('{');
  const separator = text.indexOf('://');
  if (separator === -1) {
    const slash = text.indexOf('/');
    const network = slash === -1 ? 'tcp' : text.slice(0, slash);
    if (/^(?:unix|fd)/.test(network) && slash !== -1) {
      const scheme = network === 'unix+h2c' ? 'h2c' : '';
      return {
        token,
        scheme,
        network: network.replace(/\+h2c$/, ''),
        host: text.slice(slash + 1),
        ports: undefined,
        isDynamic,
      };
    }
    const { host, port } = splitHostPort(slash === -1 ? text : text.slice(slash + 1));
    if (isDynamic) return { token, scheme: '', network, host, ports: portsOf(port ?? ''), isDynamic };
    const ports = portsOf(port || DEFAULT_PORT['']);
    if (!ports) throw refuse('has a port that is none');
    return { token, scheme: '', network, host, ports, isDynamic };
  }
  if (isDynamic) throw refuse('has a scheme and a placeholder, which can not be together');
  const scheme = text.slice(0, separator).toLowerCase();
  if (scheme === 'ws' || scheme === 'wss') throw refuse(`has the scheme ${scheme}: use http or https`);
  if (scheme !== 'http' && scheme !== 'https' && scheme !== 'h2c')
    throw refuse('has a scheme other than http, https and h2c');
  const authority = text.slice(separator + 3).replace(/^[^/?#@]*@/, '');
  if (/[/?#]/.test(authority)) throw refuse('has a path, which an upstream can not have: use rewrite');
  const { host, port } = splitHostPort(authority);
  if (scheme === 'http' && port === '443') throw refuse('is http on port 443');
  if (scheme === 'https' && port === '80') throw refuse('is https on port 80');
  if (scheme === 'h2c' && port === '443') throw refuse('is h2c on port 443');
  const ports = portsOf(port || DEFAULT_PORT[scheme]);
  if (!ports) throw refuse('has a port that is none');
  return { token, scheme, network: 'tcp', host, ports, isDynamic };
};
