import { type NewProxyHost, PROXY_HOST_DEFAULTS, type ProxyHostPatch } from '@sallyport/contract';
import { objectReverter } from '../../object-reverter.ts';
import type { Reverter } from '../../reverter.ts';
import type { ProxyHosts, RoutePlane } from './service.ts';
import { proxyHostStore } from './store.ts';

const FIELDS = ['domain', 'forward_host', 'forward_port', ...Object.keys(PROXY_HOST_DEFAULTS)];

/** Takes changes of proxy hosts back. */
export const createProxyHostReverter = (objects: ProxyHosts, { syncHosts }: Pick<RoutePlane, 'syncHosts'>): Reverter =>
  objectReverter<NewProxyHost, ProxyHostPatch>({
    policy: 'member',
    fields: FIELDS,
    objects,
    store: proxyHostStore,
    settle: syncHosts,
  });
