import type { NewProxyHost, ProxyHostPatch } from '@sallyport/contract';
import { objectReverter } from '../../object-reverter.ts';
import type { Reverter } from '../../reverter.ts';
import type { ProxyHosts, RoutePlane } from './service.ts';
import { proxyHostStore } from './store.ts';
import { HOST_FIELDS } from './undo-many.ts';

/** Takes changes of proxy hosts back. */
export const createProxyHostReverter = (objects: ProxyHosts, { syncHosts }: Pick<RoutePlane, 'syncHosts'>): Reverter =>
  objectReverter<NewProxyHost, ProxyHostPatch>({
    policy: 'member',
    fields: HOST_FIELDS,
    objects,
    store: proxyHostStore,
    many: {
      current: (tx, keys) => proxyHostStore(tx).findMany(keys),
      apply: objects.within.undoMany,
    },
    settle: syncHosts,
  });
