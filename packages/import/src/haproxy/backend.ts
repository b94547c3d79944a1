import type { Draft } from '../draft.ts';
import { type Loss, loss } from '../loss.ts';
import { shorten } from '../shorten.ts';
import { once } from './once.ts';
import type { Line, Section } from './parse.ts';

/** Where a backend leads in terms of a proxy host, or why it can't be said in them. */
export type Target = { fields: Draft['fields']; losses: Loss[] } | { impossible: string };

const isAside = ({ words }: Line): boolean => words.includes('backup') || words.includes('disabled');

const serverDefaults = once(({ lines }) =>
  lines.filter(({ words }) => words[0] === 'default-server').flatMap(({ words }) => words.slice(1)),
);

const modeIn = once(({ lines }) => lines.findLast(({ words }) => words[0] === 'mode')?.words[1]);

/** Reads where a backend leads; `stack` is its own section and the defaults that it stands on. */
export const targetOf = (backend: Section, stack: readonly Section[]): Target => {
  const mode = stack.map(modeIn).find((one) => one !== undefined) ?? 'tcp';
  if (mode !== 'http') return { impossible: `${backend.kind} ${shorten(backend.name)} has mode ${mode}, not http` };
  const servers = backend.lines.filter(({ words }) => words[0] === 'server');
  const first = servers.find((one) => !isAside(one)) ?? servers[0];
  if (!first) return { impossible: `${backend.kind} ${shorten(backend.name)} has no server` };
  const losses = servers
    .filter((one) => one !== first)
    .map(({ at, words }) => loss(at, `the upstream ${shorten(words[2] ?? '')} is left out: a proxy host has one`));
  const options = [...first.words.slice(3), ...stack.flatMap(serverDefaults)];
  const address = /^(?:ipv[46]@)?(\[[0-9a-f:.]+\]|[^:@/\s]+):(\d{1,5})$/i.exec(first.words[2] ?? '');
  if (!address) return { impossible: `its upstream ${shorten(first.words[2] ?? '')} is no host with a port` };
  const after = (option: string) => (options.includes(option) ? options[options.indexOf(option) + 1] : undefined);
  const isSecure = options.includes('ssl');
  const speaksHttp2 = after('proto') === 'h2' || after('alpn') === 'h2';
  if (options.includes('check'))
    losses.push(loss(first.at, 'check: a proxy host does not check the health of its upstream'));
  if (/\bsend-proxy/.test(options.join(' '))) losses.push(loss(first.at, 'send-proxy is not taken over'));
  if (options.includes('crt')) losses.push(loss(first.at, 'crt: the upstream is shown no certificate'));
  const fields: Draft['fields'] = {
    forward_scheme: isSecure ? 'https' : 'http',
    forward_host: address[1]!,
    forward_port: Number(address[2]),
    // HAProxy passes upgrades by itself.
    websocket_support: true,
    ...(isSecure && { forward_verify_tls: after('verify') !== 'none' }),
    ...(speaksHttp2 && { forward_http2: true }),
  };
  return { fields, losses };
};
