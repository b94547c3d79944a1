import type { Place } from '../reading.ts';
import { leaf, type Tree } from './tree.ts';

/** What files and labels of Traefik say of HTTP together, by name. */
export interface Dynamic {
  routers: Map<string, Tree>;
  services: Map<string, Tree>;
  middlewares: Map<string, Tree>;
  transports: Map<string, Tree>;
  /** Containers, for services that only name a port: its name and a port that it has. */
  containers: Map<Tree, { host: string; port: number | undefined }>;
  /** What is there besides. */
  rest: { at: Place; what: string }[];
}

export const newDynamic = (): Dynamic => ({
  routers: new Map(),
  services: new Map(),
  middlewares: new Map(),
  transports: new Map(),
  containers: new Map(),
  rest: [],
});

const SECTIONS = [
  ['routers', 'routers'],
  ['services', 'services'],
  ['middlewares', 'middlewares'],
  ['serverstransports', 'transports'],
] as const;

/** Adds what a dynamic configuration says. */
export const addFile = (dynamic: Dynamic, tree: Tree): void => {
  for (const [key, section] of tree.fields) {
    if (key !== 'http') {
      dynamic.rest.push({ at: section.at, what: key });
      continue;
    }
    for (const [field, into] of SECTIONS) {
      for (const [name, one] of section.fields.get(field)?.fields ?? []) dynamic[into].set(name, one);
    }
  }
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

const MOST_PARTS = 12;

const put = (root: Tree, path: readonly string[], value: Tree): void => {
  let current = root;
  for (const part of path.slice(0, MOST_PARTS)) {
    const next = current.fields.get(part) ?? leaf(value.at);
    current.fields.set(part, next);
    current = next;
  }
  current.text = value.text;
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
    }
    for (const key of root.fields.keys()) if (key !== 'http') root.fields.delete(key);
    addFile(dynamic, root);
  }
};
