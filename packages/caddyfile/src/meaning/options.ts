import type { Directive, ServerBlock } from '../parse/tree.ts';
import { CaddyfileError } from '../text/error.ts';
import { type Order, orderOf } from './order.ts';

/** What holds for all sites. */
export interface GlobalOptions {
  httpPort: number;
  httpsPort: number;
  /** `off`, `disable_redirects`, `disable_certs`, `ignore_loaded_certs`; empty for all of it. */
  autoHttps: readonly string[];
  order: Order;
  /** Versions of HTTP that are spoken with clients, when said. */
  protocols: readonly string[] | undefined;
  /** All else. */
  others: readonly Directive[];
}

const portOf = (options: readonly Directive[], name: string): number | undefined => {
  const option = options.findLast((one) => one.name.text === name);
  if (!option) return undefined;
  const text = option.args[0]?.text ?? '';
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new CaddyfileError(`${name} needs a port`, option.args[0] ?? option.name, text);
  }
  return Number(text);
};

const UNDERSTOOD = new Set(['http_port', 'https_port', 'auto_https', 'order']);

/** Reads the global options, which may be none. */
export const readOptions = (block: ServerBlock | undefined): GlobalOptions => {
  const options = block?.directives ?? [];
  const named = (name: string) => options.filter((one) => one.name.text === name);
  const protocols = named('servers')
    .flatMap((servers) => servers.block ?? [])
    .findLast(({ name }) => name.text === 'protocols');
  return {
    httpPort: portOf(options, 'http_port') ?? 80,
    httpsPort: portOf(options, 'https_port') ?? 443,
    autoHttps: named('auto_https').flatMap(({ args }) => args.map(({ text }) => text)),
    order: orderOf(named('order')),
    protocols: protocols?.args.map(({ text }) => text),
    others: options.filter(({ name }) => !UNDERSTOOD.has(name.text)),
  };
};
