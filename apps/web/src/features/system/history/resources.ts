/** What has a history: its path below the API, and the screen that shows one object of it. */
export const KINDS = [
  { path: 'proxy-hosts', name: 'hosts', screen: '/hosts' },
  { path: 'remote-servers', name: 'servers', screen: '/servers' },
  { path: 'certificates', name: 'certificates', screen: '/certificates' },
  { path: 'dns-providers', name: 'dnsProviders', screen: '/certificates' },
  { path: 'access-lists', name: 'accessLists', screen: '/access-lists' },
  { path: 'security/decisions', name: 'decisions', screen: '/decisions' },
  { path: 'security/rulesets', name: 'rulesets', screen: '/security' },
  { path: 'security/config', name: 'security', screen: '/security' },
  { path: 'settings', name: 'settings', screen: '/settings' },
] as const;

/** Whose objects have addresses of their own. */
const WITH_FORM = ['proxy-hosts', 'remote-servers', 'certificates', 'access-lists'];

export type Kind = (typeof KINDS)[number];

/** The kind of an object, what names it there, and the screen that leads to it. undefined: a kind that is not known here. */
export const placeOf = (resource: string): { kind: Kind; id: string; screen: string } | undefined => {
  const kind = KINDS.find(({ path }) => resource === path || resource.startsWith(`${path}/`));
  if (!kind) return undefined;
  const id = resource.slice(kind.path.length + 1);
  if (kind.path === 'settings') return { kind, id, screen: `/settings#${id}` };
  return { kind, id, screen: WITH_FORM.includes(kind.path) && id !== '' ? `${kind.screen}/${id}` : kind.screen };
};
