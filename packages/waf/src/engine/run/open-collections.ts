import type { CollectionStore, StoredCollection } from '../../model/collection-store.ts';

const maxVariables = 256;
const maxValueLength = 4_096;
const maxKeyLength = 512;

/** The persistent collections that one transaction has opened: read lazily, written back once. */
export type OpenCollections = {
  /** Opens a collection under a key; a second open of the same collection is ignored, as in ModSecurity. */
  open(collection: string, key: string): void;
  keyOf(collection: string): string | undefined;
  read(collection: string, name: string): string | undefined;
  /** Sets or (undefined) unsets; false when a bound was hit. Without an open collection it does nothing. */
  write(collection: string, name: string, value: string | undefined): boolean;
  expire(collection: string, name: string, seconds: number): void;
  entries(collection: string): [name: string, value: string][];
  /** Hands changed collections to the store. */
  flush(): void;
};

type Open = { readonly key: string; data: StoredCollection | null; isDirty: boolean };

export const openCollections = (store: CollectionStore, now: number, timeoutMs: number): OpenCollections => {
  let opened: Map<string, Open> | null = null;
  const dataOf = (collection: string): StoredCollection | null => {
    const open = opened?.get(collection);
    if (open === undefined) return null;
    open.data ??= new Map(store.load(collection, open.key, now) ?? []);
    return open.data;
  };
  const markDirty = (collection: string): void => {
    opened!.get(collection)!.isDirty = true;
  };
  return {
    open(collection, key) {
      opened ??= new Map();
      if (!opened.has(collection))
        opened.set(collection, { key: key.slice(0, maxKeyLength), data: null, isDirty: false });
    },
    keyOf: (collection) => opened?.get(collection)?.key,
    read(collection, name) {
      if (opened === null) return undefined;
      const found = dataOf(collection)?.get(name);
      return found === undefined || found.expiresAt <= now ? undefined : found.value;
    },
    write(collection, name, value) {
      const data = dataOf(collection);
      if (data === null) return true;
      if (value === undefined) data.delete(name);
      else if (data.size >= maxVariables && !data.has(name)) return false;
      else
        data.set(name, {
          value: value.slice(0, maxValueLength),
          expiresAt: data.get(name)?.expiresAt ?? now + timeoutMs,
        });
      markDirty(collection);
      return true;
    },
    expire(collection, name, seconds) {
      const data = dataOf(collection);
      const found = data?.get(name);
      if (data === null || found === undefined) return;
      data.set(name, { value: found.value, expiresAt: now + seconds * 1_000 });
      markDirty(collection);
    },
    entries(collection) {
      if (opened === null) return [];
      const data = dataOf(collection) ?? new Map();
      return [...data].filter(([, { expiresAt }]) => expiresAt > now).map(([name, { value }]) => [name, value]);
    },
    flush() {
      if (opened === null) return;
      for (const [collection, open] of opened) {
        if (open.isDirty && open.data !== null) store.save(collection, open.key, open.data, now, timeoutMs);
        open.isDirty = false;
      }
    },
  };
};
