import type { Actor, ChangeEntry } from '@sallyport/store/actor';
import type { StoredProxyHost } from './store.ts';

const resourceOf = ({ uuid }: StoredProxyHost): string => `proxy-hosts/${uuid}`;

/** What audit and history say of a host that was made. */
export const creationOf = (after: StoredProxyHost, actor: Actor): ChangeEntry => {
  const resource = resourceOf(after);
  return { action: 'proxy_host.create', actor, resource, after, history: [{ resource, after }] };
};

/** What they say of a host that was changed. */
export const updateOf = (before: StoredProxyHost, after: StoredProxyHost, actor: Actor): ChangeEntry => {
  const resource = resourceOf(before);
  return { action: 'proxy_host.update', actor, resource, before, after, history: [{ resource, before, after }] };
};

/** What they say of a host that was deleted. */
export const deletionOf = (before: StoredProxyHost, actor: Actor): ChangeEntry => {
  const resource = resourceOf(before);
  return { action: 'proxy_host.delete', actor, resource, before, history: [{ resource, before }] };
};
