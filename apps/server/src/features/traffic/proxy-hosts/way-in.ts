import type { Actor } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import type { ProxyHostStore } from './store.ts';

export interface WayInDeps {
  store: (executor: Executor) => Pick<ProxyHostStore, 'toReserved'>;
  /** Whether an origin is this very API. */
  isOwnApi: (host: string, port: number) => boolean;
}

/** Runs changes of many hosts in a transaction. Throws a 409, see `createKeepWayIn`. */
export type KeepWayIn = <T>(tx: Executor, actor: Actor, work: () => Promise<T>) => Promise<T>;

const MOST_NAMED = 5;

/**
 * Makes the guard of changes that name no single host, so that nobody loses the way here in passing: of who came through our own
 * proxy, names that lead to this very API have to lead there afterwards. With `confirm_within` they need not, for the change goes back.
 */
export const createKeepWayIn = ({ store, isOwnApi }: WayInDeps): KeepWayIn => {
  const waysIn = async (tx: Executor): Promise<string[]> =>
    (await store(tx).toReserved())
      .filter(({ forward_host, forward_port }) => isOwnApi(forward_host, forward_port))
      .flatMap(({ domain }) => domain.split(','));

  return async (tx, actor, work) => {
    if (!actor.isProxied || actor.confirm) return work();
    const before = await waysIn(tx);
    const result = await work();
    const after = new Set(await waysIn(tx));
    const lost = before.filter((name) => !after.has(name));
    if (lost.length === 0) return result;
    const names = lost.slice(0, MOST_NAMED).join(', ');
    throw refuse.conflict(`This could lock you out: ${names} would not lead to this API any more`, {
      details: 'with confirm_within it goes back by itself unless you confirm it; or do it on this host',
    });
  };
};
