import type { NamedFiles } from '../certificates/beside.ts';
import type { Place } from '../reading.ts';
import { type EntryPoint, entryPointsOf, entryPointsOfContainer } from './entry-points.ts';
import { leaf, put, type Tree } from './tree.ts';

/** What files and labels of Traefik say of HTTP together, by name. */
export interface Dynamic {
  routers: Map<string, Tree>;
  services: Map<string, Tree>;
  /** All that have the name, with whatever provider: which one is meant nobody here can tell. */
  middlewares: Map<string, Tree[]>;
  transports: Map<string, Tree>;
  /** Containers, for services that only name a port: its name and a port that it has. */
  containers: Map<Tree, { host: string; port: number | undefined }>;
  /** Of the static configuration, where it was uploaded, too. */
  entryPoints: Map<string, EntryPoint>;
  /** Where options of TLS for all routers ask clients for a certificate. */
  clientAuth: Place | undefined;
  /** Files of certificates, which Traefik chooses by name. */
  certificates: NamedFiles[];
  /** Names that are there again, which are left out. */
  doubles: { at: Place; what: string }[];
  /** What is there besides. */
  rest: { at: Place; what: string }[];
}

export const newDynamic = (): Dynamic => ({
  routers: new Map(),
  services: new Map(),
  middlewares: new Map(),
  transports: new Map(),
  containers: new Map(),
  entryPoints: new Map(),
  clientAuth: undefined,
  certificates: [],
  doubles: [],
  rest: [],
});

const SECTIONS = [
  ['routers', 'routers'],
  ['services', 'services'],
  ['serverstransports', 'transports'],
] as const;

const addHttp = (dynamic: Dynamic, http: Tree): void => {
  for (const [field, into] of SECTIONS) {
    for (const [name, one] of http.fields.get(field)?.fields ?? []) {
      if (dynamic[into].has(name)) dynamic.doubles.push({ at: one.at, what: `${field} ${name}` });
      else dynamic[into].set(name, one);
    }
  }
  for (const [name, one] of http.fields.get('middlewares')?.fields ?? []) {
    const others = dynamic.middlewares.get(name);
    if (others) others.push(one);
    else dynamic.middlewares.set(name, [one]);
  }
};

const filesOf = ({ at, fields }: Tree): NamedFiles[] => {
  const certificate = fields.get('certfile')?.text;
  return certificate === undefined ? [] : [{ at, certificate, key: fields.get('keyfile')?.text }];
};

const addTls = (dynamic: Dynamic, tls: Tree): void => {
  for (const one of tls.fields.get('certificates')?.items ?? []) dynamic.certificates.push(...filesOf(one));
  const standard = tls.fields.get('stores')?.fields.get('default')?.fields.get('defaultcertificate');
  if (standard) dynamic.certificates.push(...filesOf(standard));
  for (const [key, { at }] of tls.fields) {
    if (key !== 'certificates' && key !== 'stores') dynamic.rest.push({ at, what: `tls ${key}` });
  }
  const options = tls.fields.get('options')?.fields.get('default');
  if (options?.fields.has('clientauth')) dynamic.clientAuth = options.at;
};

/** Adds what a dynamic configuration says, or a static one of entry points. */
export const addFile = (dynamic: Dynamic, tree: Tree): void => {
  for (const [key, section] of tree.fields) {
    if (key === 'http') addHttp(dynamic, section);
    else if (key === 'tls') addTls(dynamic, section);
    else if (key !== 'entrypoints') dynamic.rest.push({ at: section.at, what: key });
  }
  for (const [name, point] of entryPointsOf(tree)) dynamic.entryPoints.set(name, point);
};

/** Labels in both forms: `key: value` and `- key=value`. */
const labelsOf = (labels: Tree | undefined): [string, Tree][] => {
  const pairs: [string, Tree][] = [...(labels?.fields ?? [])];
  for (const { at, text = '' } of labels?.items ?? []) {
    const [key = '', ...value] = text.split('=');
    pairs.push([key.trim().toLowerCase(), leaf(at, value.join('='))]);
  }
  return pairs.filter(([key]) => key.startsWith('traefik.'));
};

/** The port that a container has, when it names just one. */
const portOf = (container: Tree): number | undefined => {
  const named = [...(container.fields.get('expose')?.items ?? []), ...(container.fields.get('ports')?.items ?? [])];
  const ports = new Set(named.map(({ text = '' }) => Number(/(\d+)(?:\/tcp)?$/.exec(text)?.[1] ?? 0)));
  const [first] = ports;
  return ports.size === 1 && first ? first : undefined;
};

/** Adds what the labels of a docker-compose file say. */
export const addCompose = (dynamic: Dynamic, tree: Tree): void => {
  for (const [name, container] of tree.fields.get('services')?.fields ?? []) {
    for (const [point, one] of entryPointsOfContainer(container)) dynamic.entryPoints.set(point, one);
    const deployed = container.fields.get('deploy')?.fields.get('labels');
    const labels = [...labelsOf(container.fields.get('labels')), ...labelsOf(deployed)];
    const isOff = labels.some(([key, { text }]) => key === 'traefik.enable' && text?.toLowerCase() === 'false');
    if (labels.length === 0 || isOff) continue;
    const root = leaf(container.at);
    for (const [key, value] of labels) put(root, key.split('.').slice(1), value);
    const own = { host: container.fields.get('container_name')?.text ?? name, port: portOf(container) };
    const http = root.fields.get('http') ?? leaf(container.at);
    const services = http.fields.get('services') ?? leaf(container.at);
    // A container without a service has one by its own name.
    if (services.fields.size === 0) services.fields.set(`${name} of the container`, leaf(container.at));
    http.fields.set('services', services);
    root.fields.set('http', http);
    for (const service of services.fields.values()) dynamic.containers.set(service, own);
    const [only] = services.fields.keys();
    for (const router of http.fields.get('routers')?.fields.values() ?? []) {
      if (!router.fields.has('service')) router.fields.set('service', leaf(router.at, only));
      // What it has from elsewhere may name middlewares.
      for (const key of ['extends', 'label_file']) {
        const elsewhere = container.fields.get(key);
        if (elsewhere) router.fields.set(key, elsewhere);
      }
    }
    for (const key of root.fields.keys()) if (key !== 'http') root.fields.delete(key);
    addFile(dynamic, root);
  }
};
