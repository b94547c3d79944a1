import { type NewProxyHost, PROXY_HOST_DEFAULTS, type ProxyHostPatch } from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';
import { fieldsOf, type Reverter } from '../../reverter.ts';
import type { ProxyHosts } from './service.ts';
import type { ProxyHostStore, StoredProxyHost } from './store.ts';

const FIELDS = ['domain', 'forward_host', 'forward_port', ...Object.keys(PROXY_HOST_DEFAULTS)];
const IDENTITY = ['id', 'uuid', 'created_at'];

export interface ProxyHostReverterDeps {
  hosts: Pick<ProxyHosts, 'within' | 'get'>;
  store: (executor: Executor) => ProxyHostStore;
  db: Executor;
  syncHosts: (ids: readonly number[]) => Promise<void>;
}

/** Takes changes of proxy hosts back. One that comes back has the uuid and the id that it had. */
export const createProxyHostReverter = ({ hosts, store, db, syncHosts }: ProxyHostReverterDeps): Reverter => ({
  policy: 'member',
  current: (tx, key) => store(tx).find(key),
  async apply(tx, undoing, actor) {
    const { key } = undoing;
    switch (undoing.does) {
      case 'update': {
        const { id } = await hosts.within.update(tx, key, fieldsOf<ProxyHostPatch>(undoing.fields, FIELDS), actor);
        return { key, id };
      }
      case 'remove':
        return { key, id: await hosts.within.remove(tx, key, actor) };
      case 'restore': {
        const known = fieldsOf<Partial<StoredProxyHost>>(undoing.state, IDENTITY);
        const { id } = await hosts.within.create(tx, fieldsOf<NewProxyHost>(undoing.state, FIELDS), actor, known);
        return { key, id };
      }
      default:
        return undoing satisfies never;
    }
  },
  settle: (touched) => syncHosts(touched.map(({ id }) => id)),
  show: async (key) => ((await store(db).find(key)) ? hosts.get(key) : undefined),
});
