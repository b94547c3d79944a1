import { list, text } from '../database/cells.ts';
import type { Row } from '../database/open.ts';
import { SWITCHED_OFF } from '../draft.ts';
import { type Loss, loss } from '../loss.ts';
import { readNginx } from '../nginx/read.ts';
import type { ImportedHost, Place } from '../reading.ts';
import { shorten } from '../shorten.ts';

/** Where requests go. */
export type Upstream = Pick<ImportedHost, 'forward_scheme' | 'forward_host' | 'forward_port'>;

/** What the parts of a host come to that are written for nginx. */
export interface Written {
  /** Where another one than that of the host is meant. */
  upstream?: Upstream;
  losses: Loss[];
}

const NAME = 'host.invalid';
const OWN_ROOT = /^\s*location\s+(?:=\s*)?\/\s*\{/m;
const ROOT_BLOCK = /^\s*location\s+\/\s*\{/m;
/** What stands between words of nginx's configuration, and would make something else of it. */
const NO_WORD = /[{};"'\\#\r\n]/;

const addressOf = ({ forward_scheme, forward_host, forward_port }: Upstream): string =>
  `${forward_scheme}://${forward_host.includes(':') ? `[${forward_host}]` : forward_host}:${forward_port}`;

const locationOf = (entry: unknown, losses: Loss[], place: Place): string | undefined => {
  const { path, forward_scheme, forward_host, forward_port, advanced_config } = (entry ?? {}) as Record<
    string,
    unknown
  >;
  const address = `${String(forward_scheme)}://${String(forward_host)}:${String(forward_port)}`;
  if (typeof path !== 'string' || NO_WORD.test(path) || NO_WORD.test(address) || /\s/.test(address)) {
    const message = `a location ${shorten(String(path))} is not understood: it may have kept requests out`;
    losses.push(loss(place, message, true));
    return undefined;
  }
  const more = typeof advanced_config === 'string' ? advanced_config : '';
  // What ends the block within would be of the whole host.
  return `location ${path} {\nproxy_pass ${address};\n${more}\n}`;
};

const readAs = (content: string, own: Upstream, place: Place): Written => {
  const { hosts, errors, warnings } = readNginx([{ name: 'host', content }]);
  const [read, ...others] = hosts;
  // What it has besides the one host ended the server before its end.
  const [fault] = [...errors, ...warnings];
  if (!read || fault || others.length > 0) {
    const why = fault ? `: ${fault.message}` : '';
    const message = `what was written for nginx by hand is not understood${why}: it may have kept requests out`;
    return { losses: [loss(place, message, true)] };
  }
  const isOpen = read.enabled === false;
  const losses = read.warnings
    .filter(({ message }) => message !== SWITCHED_OFF)
    .map(({ message }) => loss(place, message, isOpen));
  const { forward_scheme, forward_host, forward_port } = read;
  const upstream = { forward_scheme, forward_host, forward_port };
  return { losses, ...(addressOf(upstream) !== addressOf(own) && { upstream }) };
};

/**
 * What a host's locations and its configuration for nginx, written by hand, come to: read as nginx would read them, at their
 * place in the server that Nginx Proxy Manager makes of the host.
 */
export const writtenBy = (row: Row, own: Upstream, place: Place): Written => {
  const byHand = text(row, 'advanced_config');
  const entries = list(row, 'locations');
  const losses: Loss[] = [];
  if (entries === undefined)
    losses.push(loss(place, 'its locations are no list: they may have kept requests out', true));
  if (byHand.trim() === '' && (entries ?? []).length === 0) return { losses };
  if (NO_WORD.test(addressOf(own)) || /[\s/]/.test(own.forward_host)) return { losses };
  const locations = (entries ?? []).flatMap((entry) => locationOf(entry, losses, place) ?? []);
  const hasRoot = OWN_ROOT.test(byHand) || locations.some((one) => ROOT_BLOCK.test(one));
  const root = hasRoot ? [] : [`location / {\nproxy_pass ${addressOf(own)};\n}`];
  const { forward_scheme: scheme, forward_host: host, forward_port: port } = own;
  const variables = `set $forward_scheme ${scheme};\nset $server "${host}";\nset $port ${port};`;
  const body = [`server_name ${NAME};`, variables, byHand, ...locations, ...root].join('\n');
  const written = readAs(`server {\nlisten 80;\n${body}\n}\n`, own, place);
  return { ...written, losses: [...losses, ...written.losses] };
};
