import { objectReverter } from '../../object-reverter.ts';
import type { Reverter } from '../../reverter.ts';
import type { DnsProviders, RestoredDnsProvider } from './service.ts';

const FIELDS = ['name', 'type', 'fields', 'secrets'];

/** Takes changes of DNS providers back, with their secrets. */
export const createDnsProviderReverter = (objects: DnsProviders): Reverter =>
  objectReverter<RestoredDnsProvider, Partial<RestoredDnsProvider>>({
    policy: 'sensitive',
    fields: FIELDS,
    objects,
    store: (tx) => ({ find: (key) => objects.within.kept(tx, key) }),
    // Nothing that is served depends on them.
    async settle() {},
  });
