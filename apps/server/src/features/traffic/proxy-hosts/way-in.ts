import type { Actor } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import type { ProxyHostStore, StoredProxyHost } from './store.ts';

export interface WayInDeps {
  store: (executor: Executor) => Pick<ProxyHostStore, 'toReserved'>;
  /** Whether an origin is this very API. */
  isOwnApi: (host: string, port: number) => boolean;
}

/** Runs changes of many hosts in a transaction. Throws a 409, see `createKeepWayIn`. */
export type KeepWayIn = <T>(tx: Executor, actor: Actor, work: () => Promise<T>) => Promise<T>;

/** Looks at a host before and after its change; undefined: it is gone. Throws a 409, see `createCheckWayIn`. */
export type CheckWayIn = (before: StoredProxyHost, after: StoredProxyHost | undefined, actor: Actor) => void;

const MOST_NAMED = 5;

/** Whether somebody may lose the way here, and nothing would bring it back. */
const isAtRisk = ({ isProxied, confirm }: Actor): boolean => isProxied === true && confirm === undefined;

/** Throws a 409 when a name is among `before` and not among `after`. */
const checkKept = (before: readonly string[], after: readonly string[]): void => {
  const kept = new Set(after);
  const lost = before.filter((name) => !kept.has(name));
  if (lost.length === 0) return;
  const names = lost.slice(0, MOST_NAMED).join(', ');
  throw refuse.conflict(`This could lock you out: ${names} would not lead to this API any more`, {
    details: 'with confirm_within it goes back by itself unless you confirm it; or do it on this host',
  });
};

/** Makes the same guard as `createKeepWayIn` for a change of one host that is named, which costs no look at the others. */
export const createCheckWayIn = ({ isOwnApi }: Pick<WayInDeps, 'isOwnApi'>): CheckWayIn => {
  const waysIn = ({ domain, enabled, forward_reserved, forward_host, forward_port }: StoredProxyHost): string[] =>
    enabled && forward_reserved && isOwnApi(forward_host, forward_port) ? domain.split(',') : [];
  return (before, after, actor) => {
    if (isAtRisk(actor)) checkKept(waysIn(before), after ? waysIn(after) : []);
  };
};

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
    if (!isAtRisk(actor)) return work();
    const before = await waysIn(tx);
    const result = await work();
    checkKept(before, await waysIn(tx));
    return result;
  };
};
