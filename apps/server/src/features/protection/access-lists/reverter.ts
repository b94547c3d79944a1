import type { AccessListPatch, NewAccessList } from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';
import { fieldsOf, type Reverter } from '../../reverter.ts';
import type { AccessLists } from './service.ts';
import type { AccessListStore, StoredAccessList } from './store.ts';

const FIELDS = ['name', 'description', 'type', 'rules', 'countries', 'local_network_only', 'enabled'];
const IDENTITY = ['id', 'uuid', 'created_at'];

export interface AccessListReverterDeps {
  lists: Pick<AccessLists, 'within' | 'get'>;
  store: (executor: Executor) => AccessListStore;
  db: Executor;
  changed: () => Promise<void>;
}

/** Takes changes of access lists back. One that comes back has the uuid and the id that it had, so that hosts find it. */
export const createAccessListReverter = ({ lists, store, db, changed }: AccessListReverterDeps): Reverter => ({
  policy: 'sensitive',
  current: (tx, key) => store(tx).find(key),
  async apply(tx, undoing, actor) {
    const { key } = undoing;
    switch (undoing.does) {
      case 'update':
        return {
          key,
          id: (await lists.within.update(tx, key, fieldsOf<AccessListPatch>(undoing.fields, FIELDS), actor)).id,
        };
      case 'remove':
        return { key, id: (await lists.within.remove(tx, key, actor)).id };
      case 'restore': {
        const known = fieldsOf<Partial<StoredAccessList>>(undoing.state, IDENTITY);
        return {
          key,
          id: (await lists.within.create(tx, fieldsOf<NewAccessList>(undoing.state, FIELDS), actor, known)).id,
        };
      }
      default:
        return undoing satisfies never;
    }
  },
  settle: changed,
  show: async (key) => ((await store(db).find(key)) ? lists.get(key) : undefined),
});
