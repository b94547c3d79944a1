/** One persistent collection, e.g. IP of one client: lower-case variable names, Latin-1 values, expiry in ms since the epoch. */
export type StoredCollection = Map<string, { value: string; expiresAt: number }>;

/**
 * Where persistent collections (IP, GLOBAL, SESSION, USER, RESOURCE) live between transactions. Synchronous, since rules
 * read what they have just written; a store shared by workers answers from a local copy and replicates behind.
 */
export type CollectionStore = {
  /** The collection, or undefined when it is not known or has expired. */
  load(name: string, key: string, now: number): StoredCollection | undefined;
  /** Called once per changed collection at the end of a transaction; `timeoutMs` is SecCollectionTimeout. */
  save(name: string, key: string, collection: StoredCollection, now: number, timeoutMs: number): void;
};
