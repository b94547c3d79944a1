import type { NewRemoteServer, RemoteServer, RemoteServerPatch } from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';
import { fieldsOf, type Reverter } from '../../reverter.ts';
import type { RemoteServers } from './service.ts';
import type { RemoteServerStore } from './store.ts';

const FIELDS = ['name', 'provider', 'host', 'port', 'enabled'];
const IDENTITY = ['id', 'uuid', 'created_at'];

export interface RemoteServerReverterDeps {
  servers: Pick<RemoteServers, 'within' | 'get'>;
  store: (executor: Executor) => RemoteServerStore;
  db: Executor;
}

/** Takes changes of remote servers back. One that comes back has the uuid and the id that it had. */
export const createRemoteServerReverter = ({ servers, store, db }: RemoteServerReverterDeps): Reverter => ({
  policy: 'sensitive',
  current: (tx, key) => store(tx).find(key),
  async apply(tx, undoing, actor) {
    const { key } = undoing;
    switch (undoing.does) {
      case 'update':
        return {
          key,
          id: (await servers.within.update(tx, key, fieldsOf<RemoteServerPatch>(undoing.fields, FIELDS), actor)).id,
        };
      case 'remove':
        return { key, id: (await servers.within.remove(tx, key, actor)).id };
      case 'restore': {
        const known = fieldsOf<Partial<RemoteServer>>(undoing.state, IDENTITY);
        return {
          key,
          id: (await servers.within.create(tx, fieldsOf<NewRemoteServer>(undoing.state, FIELDS), actor, known)).id,
        };
      }
      default:
        return undoing satisfies never;
    }
  },
  async settle() {},
  show: async (key) => ((await store(db).find(key)) ? servers.get(key) : undefined),
});
