import type { AutoStore } from './store.ts';

type Issues = Awaited<ReturnType<AutoStore['issuesByName']>>;

/**
 * Issues of orders that fail, by the names they are for: kept, for every list of hosts asks for them, and there may be thousands. They
 * are read anew when any of them changed, on whichever node.
 */
export const createFailingOrders = (store: Pick<AutoStore, 'failingMark' | 'issuesByName'>) => {
  let known: { mark: string; issues: Issues } | undefined;
  return async (): Promise<Issues> => {
    const mark = await store.failingMark();
    if (known?.mark !== mark) known = { mark, issues: await store.issuesByName() };
    return known.issues;
  };
};
