import type { ProxyHost, ProxyHostPatch } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask } from '../../../api/client.ts';
import { readAnew } from '../../../api/query.ts';
import { batchOf, offerUndo } from '../../../ui/undo.tsx';
import { firstNameOf } from './addresses.ts';
import { keepingWayIn } from './way-in.ts';

/** What changes when hosts do. */
export const TOUCHED_BY_HOSTS = [
  '/proxy-hosts',
  '/history',
  '/certificates',
  '/access-lists',
  '/security/confirm',
] as const;

/** So many the API changes at once. */
const PORTION = 1_000;

const portionsOf = (uuids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(uuids.length / PORTION) }, (_, i) => uuids.slice(i * PORTION, (i + 1) * PORTION));

/** Changes of hosts, one or thousands, each with an offer to take it back. `done`: how many of them are through; null: none is on its way. */
export const useHostChanges = () => {
  const { t } = useTranslation('traffic');
  const [done, setDone] = useState<number | null>(null);

  /** Sends the portions one after the other. What went through before a refusal can be taken back as well. */
  const send = async (
    uuids: readonly string[],
    path: string,
    bodyOf: (portion: string[]) => object,
    say: (count: number) => string,
  ): Promise<void> => {
    const batches: string[] = [];
    let count = 0;
    setDone(0);
    try {
      for (const portion of portionsOf(uuids)) {
        const body = bodyOf(portion);
        const answer = await keepingWayIn(
          (query) => ask('POST', path, { body, query }),
          (reason, seconds) => t('hosts.lockOut', { reason, seconds }),
        );
        batches.push(batchOf(answer));
        count += portion.length;
        setDone(count);
      }
    } finally {
      setDone(null);
      if (count > 0) offerUndo(say(count), batches, TOUCHED_BY_HOSTS);
      // Whoever looks at what is gone leaves first.
      void readAnew(TOUCHED_BY_HOSTS);
    }
  };

  const nameOf = ([first]: readonly ProxyHost[]) => (first ? firstNameOf(first) : '');

  return {
    done,

    change: (hosts: readonly ProxyHost[], patch: ProxyHostPatch): Promise<void> =>
      send(
        hosts.map(({ uuid }) => uuid),
        '/proxy-hosts/bulk',
        (uuids) => ({ uuids, patch }),
        (count) => t('hosts.changed', { count, name: nameOf(hosts) }),
      ),

    remove: (hosts: readonly ProxyHost[]): Promise<void> =>
      send(
        hosts.map(({ uuid }) => uuid),
        '/proxy-hosts/bulk-delete',
        (uuids) => ({ uuids }),
        (count) => t('hosts.removed', { count, name: nameOf(hosts) }),
      ),
  };
};
