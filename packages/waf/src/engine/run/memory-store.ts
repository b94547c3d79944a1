import type { CollectionStore, StoredCollection } from '../../model/collection-store.ts';

/** A store in memory that keeps at most `maxCollections`; the least recently written goes first. */
export const createMemoryStore = (maxCollections = 50_000): CollectionStore => {
  const kept = new Map<string, { collection: StoredCollection; expiresAt: number }>();
  return {
    load(name, key, now) {
      const found = kept.get(`${name}\0${key}`);
      return found === undefined || found.expiresAt <= now ? undefined : found.collection;
    },
    save(name, key, collection, now, timeoutMs) {
      const id = `${name}\0${key}`;
      kept.delete(id);
      if (kept.size >= maxCollections) {
        for (const oldest of kept.keys()) {
          kept.delete(oldest);
          break;
        }
      }
      const live = new Map([...collection].filter(([, { expiresAt }]) => expiresAt > now));
      let expiresAt = now + timeoutMs;
      for (const entry of live.values()) expiresAt = Math.max(expiresAt, entry.expiresAt);
      if (live.size > 0) kept.set(id, { collection: live, expiresAt });
    },
  };
};
