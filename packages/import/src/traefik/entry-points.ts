import type { Place } from '../reading.ts';
import { listOf } from './list.ts';
import { leaf, put, type Tree } from './tree.ts';

/** What an entry point of the static configuration does with the requests of its routers. */
export interface EntryPoint {
  at: Place;
  middlewares: string[];
  /** Whether what comes without TLS is sent to https. */
  secures: boolean;
  isSecure: boolean;
  /** Whether Traefik gets the certificates of its routers by itself. */
  hasResolver: boolean;
  /** Options of TLS, which may ask clients for a certificate. */
  hasTlsOptions: boolean;
}

/** Reads `entryPoints` of a static configuration, by name. */
export const entryPointsOf = (tree: Tree): Map<string, EntryPoint> => {
  const points = new Map<string, EntryPoint>();
  for (const [name, { at, fields }] of tree.fields.get('entrypoints')?.fields ?? []) {
    const http = fields.get('http')?.fields;
    const to = http?.get('redirections')?.fields.get('entrypoint')?.fields;
    points.set(name, {
      at,
      middlewares: listOf(http?.get('middlewares')),
      secures: to !== undefined && (to.get('scheme')?.text ?? 'https') === 'https',
      isSecure: http?.has('tls') ?? false,
      hasResolver: http?.get('tls')?.fields.has('certresolver') ?? false,
      hasTlsOptions: http?.get('tls')?.fields.has('options') ?? false,
    });
  }
  return points;
};

const FLAG = /^--(entrypoints\.[^=\s]+)(?:=(.*))?$/i;
const VARIABLE = /^(?:TRAEFIK_)(ENTRYPOINTS_[^=\s]+)(?:=(.*))?$/i;

/** What a container of Traefik itself says of entry points, as flags of its command or as variables. */
export const entryPointsOfContainer = ({ at, fields }: Tree): Map<string, EntryPoint> => {
  const root = leaf(at);
  const command = fields.get('command');
  const flags = [
    ...(command?.items ?? []),
    ...(command?.text?.split(/\s+/).map((text) => leaf(command.at, text)) ?? []),
  ];
  for (const { at: where, text = '' } of flags) {
    const [, key, value = 'true'] = FLAG.exec(text.replaceAll(/^["']|["']$/g, '')) ?? [];
    if (key !== undefined) put(root, key.toLowerCase().split('.'), leaf(where, value));
  }
  const environment = fields.get('environment');
  const variables = (environment?.items ?? []).map(({ at: where, text = '' }) => leaf(where, text));
  for (const [key, { at: where, text = '' }] of environment?.fields ?? [])
    variables.push(leaf(where, `${key}=${text}`));
  for (const { at: where, text = '' } of variables) {
    const [, key, value = 'true'] = VARIABLE.exec(text) ?? [];
    if (key !== undefined) put(root, key.toLowerCase().split('_'), leaf(where, value));
  }
  return entryPointsOf(root);
};
