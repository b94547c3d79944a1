import { type Loss, loss } from '../loss.ts';
import { shorten } from '../shorten.ts';
import { NginxError } from './error.ts';
import type { Token } from './lex.ts';
import type { Directive } from './parse.ts';
import { inForce, named, type Scope } from './scope.ts';

/** One `server` block: what it listens on and which names it has. */
export interface Server {
  at: Token;
  scope: Scope;
  names: { name: string; at: Token }[];
  plain: boolean;
  secure: boolean;
  http2: boolean;
  losses: Loss[];
}

interface Listen {
  address: string;
  port: number | undefined;
  flags: string[];
  at: Token;
}

const LISTEN = /^(?:(\*|\[[0-9a-f:.]*\]|[A-Za-z0-9_.-]+)(?::(\d+))?)$/i;

const listenOf = ({ args }: Directive): Listen => {
  const [at, ...flags] = args as [Token, ...Token[]];
  const rest = flags.map(({ text }) => text);
  const { text } = at;
  if (text.startsWith('unix:')) return { address: text, port: undefined, flags: rest, at };
  const isPort = /^\d+$/.test(text);
  const found = LISTEN.exec(text);
  if (!isPort && !found) throw new NginxError('this is no address to listen on', at, text);
  const port = Number(isPort ? text : (found![2] ?? 80));
  if (port < 1 || port > 65_535) throw new NginxError(`${port} is no port`, at, text);
  const address = isPort ? '*' : found![1]!.toLowerCase();
  return { address: address === '0.0.0.0' ? '*' : address, port, flags: rest, at };
};

const USUAL = new Set([80, 443]);
const EVERYWHERE = new Set(['*', '[::]']);

/** Addresses and ports of all servers at which one of them asks for TLS or HTTP/2: they hold for the others there, too. */
export interface Sockets {
  http2: ReadonlySet<string>;
  secure: ReadonlySet<string>;
}

const keyOf = ({ address, port }: Listen): string => `${address}:${port}`;

const namesOf = (server: readonly Directive[], losses: Loss[]): Server['names'] => {
  const names: Server['names'] = [];
  const tokens = named(server, 'server_name').flatMap(({ args }) => args);
  for (const at of tokens) {
    const { text } = at;
    if (text.startsWith('~')) {
      losses.push(
        loss(at, `the name ${shorten(text)} is a pattern, which a proxy host can not have: add the names it means`),
      );
    } else if (text.startsWith('.')) names.push({ name: text.slice(1), at }, { name: `*${text}`, at });
    else if (text === '' || text === '_' || text === '*') {
      losses.push(loss(at, `server_name ${text || '""'}: requests for any other name are not answered by this host`));
    } else if (text.endsWith('.*') || text.includes('$')) {
      losses.push(loss(at, `the name ${shorten(text)} is left out: a proxy host needs a whole name, or *. before one`));
    } else names.push({ name: text, at });
  }
  return names;
};

const listensOf = (directives: readonly Directive[], at: Token): Listen[] => {
  const listens = named(directives, 'listen').map(listenOf);
  const seen = new Set<string>();
  for (const one of listens) {
    if (seen.has(keyOf(one))) throw new NginxError('this server listens twice there', one.at, one.at.text);
    seen.add(keyOf(one));
  }
  return listens.length > 0 ? listens : [{ address: '*', port: 80, flags: [], at }];
};

const isDefault = ({ flags }: Listen): boolean => flags.includes('default_server') || flags.includes('default');
const isSecure = ({ flags }: Listen): boolean => flags.includes('ssl') || flags.includes('quic');

/** Collects what holds for the sockets of all servers. Throws a `NginxError` for a second default server. */
export const socketsOf = (servers: readonly Directive[]): Sockets => {
  const http2 = new Set<string>();
  const secure = new Set<string>();
  const byDefault = new Set<string>();
  for (const { name, block = [] } of servers) {
    for (const one of listensOf(block, name)) {
      const key = keyOf(one);
      if (isSecure(one)) secure.add(key);
      if (one.flags.includes('http2')) http2.add(key);
      if (!isDefault(one)) continue;
      if (byDefault.has(key)) throw new NginxError('there is another default_server', one.at, one.at.text);
      byDefault.add(key);
    }
  }
  return { http2, secure };
};

const lossesOf = (one: Listen): Loss[] => {
  const losses: Loss[] = [];
  if (isDefault(one)) {
    losses.push(loss(one.at, 'default_server: requests for any other name are not answered by this host'));
  }
  if (!EVERYWHERE.has(one.address)) {
    const message = `listen ${one.at.text}: the host is reached at every address that the proxy listens on`;
    losses.push(loss(one.at, message, true));
  }
  if (one.port !== undefined && !USUAL.has(one.port)) {
    losses.push(loss(one.at, `port ${one.port}: the host is reached at the ports that the proxy listens on`));
  }
  if (one.flags.includes('proxy_protocol')) losses.push(loss(one.at, 'proxy_protocol is not taken over'));
  return losses;
};

/** Reads a `server` block. Throws a `NginxError` for what nginx would refuse. */
export const serverOf = ({ name: at, block = [] }: Directive, outer: Scope, sockets: Sockets): Server => {
  const scope = { own: block, outer };
  const losses: Loss[] = [];
  const names = namesOf(block, losses);
  const isOldSecure = inForce(scope, 'ssl').at(-1)?.args[0]?.text === 'on';
  const listens = listensOf(block, at);
  const speaksTls = (one: Listen) => isOldSecure || sockets.secure.has(keyOf(one));
  const http2 = inForce(scope, 'http2').at(-1)?.args[0]?.text === 'on';
  return {
    at,
    scope,
    names,
    plain: listens.some((one) => !speaksTls(one)),
    secure: listens.some(speaksTls),
    http2: http2 || listens.some((one) => sockets.http2.has(keyOf(one))),
    losses: [...losses, ...listens.flatMap(lossesOf)],
  };
};
