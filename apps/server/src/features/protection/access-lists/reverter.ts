import type { AccessListPatch, NewAccessList } from '@sallyport/contract';
import { objectReverter } from '../../object-reverter.ts';
import type { Reverter } from '../../reverter.ts';
import type { AccessLists } from './service.ts';
import { accessListStore } from './store.ts';

const FIELDS = ['name', 'description', 'type', 'rules', 'countries', 'local_network_only', 'enabled'];

/** Takes changes of access lists back. `changed`: see `AccessListDeps`. */
export const createAccessListReverter = (objects: AccessLists, changed: () => Promise<void>): Reverter =>
  objectReverter<NewAccessList, AccessListPatch>({
    policy: 'sensitive',
    fields: FIELDS,
    objects,
    store: accessListStore,
    settle: changed,
  });
