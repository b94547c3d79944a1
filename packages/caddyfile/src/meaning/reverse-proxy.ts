import type { Directive } from '../parse/tree.ts';
import { CaddyfileError, show } from '../text/error.ts';
import type { Token } from '../text/token.ts';
import { parseUpstream, type Upstream } from './upstream.ts';

/** Where a `reverse_proxy` sends requests, and how. */
export interface ReverseProxy {
  upstreams: Upstream[];
  /** `dynamic a`, `dynamic srv` …: upstreams that are looked up. */
  dynamic: Directive | undefined;
  tls: boolean;
  /** Whether the upstream's certificate is not looked at. */
  insecure: boolean;
  /** Versions of HTTP spoken to upstreams, when it says so. */
  versions: string[] | undefined;
  /** `http`, `fastcgi`, or that of a plugin. */
  transport: string;
  /** What else it says, inside of `transport` too. */
  settings: Directive[];
  transportSettings: Directive[];
}

const ARGUMENT = new Set(['to', 'dynamic', 'lb_policy', 'transport']);

const readTransport = (proxy: ReverseProxy, directive: Directive): void => {
  proxy.transport = directive.args[0]!.text;
  for (const setting of directive.block ?? []) {
    const name = setting.name.text;
    if (name === 'tls') proxy.tls = true;
    else if (name === 'tls_insecure_skip_verify') proxy.tls = proxy.insecure = true;
    else if (name === 'versions') proxy.versions = setting.args.map(({ text }) => text);
    else {
      if (name.startsWith('tls_') && name !== 'tls_except_ports') proxy.tls = true;
      proxy.transportSettings.push(setting);
    }
  }
};

/** Directives that stand for a `reverse_proxy`, and what they have that it has not. */
const SHORT_FOR: ReadonlyMap<string, readonly string[]> = new Map([
  ['reverse_proxy', []],
  ['forward_auth', ['uri', 'copy_headers']],
  [
    'php_fastcgi',
    [
      ...['root', 'split', 'env', 'index', 'try_files', 'resolve_root_symlink', 'dial_timeout', 'read_timeout'],
      ...['write_timeout', 'capture_stderr'],
    ],
  ],
]);

/** Whether a directive is a `reverse_proxy`, or short for one. */
export const isReverseProxy = (name: string): boolean => SHORT_FOR.has(name);

/** Reads a `reverse_proxy`, or what is short for one; its matcher has been taken from `args`. */
export const readReverseProxy = (directive: Directive, args: readonly Token[]): ReverseProxy => {
  const own = SHORT_FOR.get(directive.name.text) ?? [];
  const proxy: ReverseProxy = {
    upstreams: args.map(parseUpstream),
    dynamic: undefined,
    tls: false,
    insecure: false,
    versions: undefined,
    transport: directive.name.text === 'php_fastcgi' ? 'fastcgi' : 'http',
    settings: [],
    transportSettings: [],
  };
  for (const setting of directive.block ?? []) {
    const { name, args: values } = setting;
    if (own.includes(name.text)) continue;
    if (ARGUMENT.has(name.text) && values.length === 0) {
      throw new CaddyfileError(`${show(name.text)} needs to be told what`, name, name.text);
    }
    if (name.text === 'to') for (const value of values) proxy.upstreams.push(parseUpstream(value));
    else if (name.text === 'dynamic') proxy.dynamic = setting;
    else if (name.text === 'transport') readTransport(proxy, setting);
    else proxy.settings.push(setting);
  }
  let common = '';
  for (const { scheme, token } of proxy.upstreams) {
    if (common !== '' && scheme !== common) {
      throw new CaddyfileError('all upstreams need the same scheme', token, token.text);
    }
    common = scheme;
  }
  const [first] = proxy.upstreams;
  if (first && common === 'http' && proxy.tls) {
    throw new CaddyfileError('the upstream is http and its transport is TLS', first.token, first.token.text);
  }
  if (common === 'https') proxy.tls = true;
  if (common === 'h2c') proxy.versions ??= ['h2c', '2'];
  return proxy;
};
