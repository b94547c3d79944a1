import type { HistoryEntry, HistoryQuery } from '@sallyport/contract';
import type { Actor } from '@sallyport/store/actor';
import { differenceOf } from '@sallyport/store/audit/difference';
import type { Identifier } from '@sallyport/store/database/identifier';
import type { Page } from '@sallyport/store/database/listing';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { closedChange } from '@sallyport/store/history/record';
import { type State, shownValue } from '@sallyport/store/history/state';
import type { HistoryStore, StoredChange } from '@sallyport/store/history/store';
import { KINDS, type Kind } from './kinds.ts';

export interface HistoryDeps {
  db: Executor;
  store: (executor: Executor) => HistoryStore;
}

/** Whom the answer is for. */
export interface Viewer {
  actor: Actor;
  /** May read who did what, which the audit trail tells. */
  isAdministrator: boolean;
  /** Paths of what they may not read: settings, and other kinds of objects. */
  hidden: readonly string[];
  /** May read the URL of a chat's webhook, which is a credential. */
  seesWebhooks: boolean;
}

/** What stands for somebody whose name is not the caller's to know. */
const SOMEBODY = 'another user';
const IS_NAME = /@/;

/** Settings and their values are an administrator's to read, whatever the way. */
export const isSettings = (resource: string): boolean => /^settings(\/|$)/.test(resource);

/** The name of who did something, for who may know it. */
export const shownActor = (name: string, { actor, isAdministrator }: Viewer): string => {
  if (isAdministrator || !IS_NAME.test(name)) return name;
  const { identity } = actor;
  const isOwn = identity.kind === 'user' && (name === identity.email || name.startsWith(`${identity.email} (token `));
  return isOwn ? name : SOMEBODY;
};

/** Masked and cut as in the audit trail, whatever is in the store. */
const shownState = (state: State | null, seesWebhooks: boolean): State => {
  const values = Object.entries(state ?? {}).map(([name, value]) => {
    const isHidden = name === 'webhook_url' && !seesWebhooks && value !== '';
    return [name, isHidden ? '***' : shownValue(value)];
  });
  return differenceOf(undefined, Object.fromEntries(values)).after ?? {};
};

const toWire = (stored: StoredChange, viewer: Viewer): Omit<HistoryEntry, 'name' | 'batch_size'> => {
  const change = closedChange(stored);
  const before = shownState(change.before, viewer.seesWebhooks);
  const after = shownState(change.after, viewer.seesWebhooks);
  const { id, resource, action, actor, created_at, batch, reverts } = stored;
  return {
    id,
    resource,
    action,
    actor: shownActor(actor, viewer),
    created_at,
    batch,
    reverts,
    changes: Object.keys({ ...before, ...after }).map((field) => ({
      field,
      before: before[field] ?? null,
      after: after[field] ?? null,
    })),
  };
};

export const createHistoryService = ({ db, store }: HistoryDeps) => {
  /** What objects are called now, by their paths; a statement for each kind that is among them. */
  const namesOf = async (resources: readonly string[]): Promise<Map<string, string>> => {
    const names = new Map<string, string>();
    for (const { path, table } of KINDS) {
      const uuids = resources.flatMap((resource) =>
        resource.startsWith(`${path}/`) ? [resource.slice(path.length + 1)] : [],
      );
      for (const [uuid, name] of await store(db).namesOf(table, [...new Set(uuids)]))
        names.set(`${path}/${uuid}`, name);
    }
    return names;
  };

  return {
    /** Changes, newest first, as far as the caller may read what was changed. */
    async list({ resource, ...query }: HistoryQuery, viewer: Viewer): Promise<Page<HistoryEntry>> {
      const path = resource?.replaceAll(/^\/+|\/+$/g, '');
      const filter = { ...query, resource: path, hidden: viewer.hidden, isNameless: !viewer.isAdministrator };
      const page = await store(db).list(filter, (change) => toWire(change, viewer));
      const names = await namesOf(page.rows.map((change) => change.resource));
      const sizes = await store(db).sizesOf([...new Set(page.rows.map(({ batch }) => batch))]);
      const rows = page.rows.map((change) => ({
        ...change,
        name: names.get(change.resource) ?? null,
        batch_size: sizes.get(change.batch) ?? 1,
      }));
      return { ...page, rows };
    },

    /** Changes of one object; by its uuid also of one that is gone. Throws a 404 for one of which nothing is known. */
    async of(
      { path, table }: Kind,
      named: Identifier,
      query: HistoryQuery,
      viewer: Viewer,
    ): Promise<Page<HistoryEntry>> {
      const uuid = typeof named === 'number' ? await store(db).uuidOf(table, named) : named;
      const resource = `${path}/${uuid}`;
      if (uuid === undefined || !(await store(db).has(resource)))
        throw refuse.notFound('Nothing is known of its history');
      return this.list({ ...query, resource }, viewer);
    },
  };
};
export type History = ReturnType<typeof createHistoryService>;
