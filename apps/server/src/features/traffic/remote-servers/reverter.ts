import type { NewRemoteServer, RemoteServerPatch } from '@sallyport/contract';
import { objectReverter } from '../../object-reverter.ts';
import type { Reverter } from '../../reverter.ts';
import type { RemoteServers } from './service.ts';
import { remoteServerStore } from './store.ts';

const FIELDS = ['name', 'provider', 'host', 'port', 'enabled'];

/** Takes changes of remote servers back. */
export const createRemoteServerReverter = (objects: RemoteServers): Reverter =>
  objectReverter<NewRemoteServer, RemoteServerPatch>({
    policy: 'sensitive',
    fields: FIELDS,
    objects,
    store: remoteServerStore,
    // Nothing that is served depends on them.
    async settle() {},
  });
