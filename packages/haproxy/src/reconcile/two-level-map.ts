import { removedRecord } from '../routes/route-record.ts';

/** One step that brings HAProxy's overlay map where it should be. */
export type OverlayStep = { type: 'add' | 'set'; name: string; record: string } | { type: 'remove'; name: string };

/** A fold under way: the overlay's entries as they were when it began. */
export type Fold = {
  /** What the base will hold. Lazy; valid until the fold ends. */
  entries(): Iterable<[string, string]>;
  /** The base now holds `entries()`; leaves in the overlay only what was changed since. */
  commit(): void;
  /** The base was left as it is. */
  abort(): void;
};

/**
 * The intended contents of the two route maps. HAProxy asks the small overlay after the big base and lets it win, so
 * a change costs as much as the overlay is large, not as the base is (`set map` searches linearly).
 */
export type TwoLevelMap = {
  readonly base: ReadonlyMap<string, string>;
  readonly overlay: ReadonlyMap<string, string>;
  /** The record in force for exactly this name; undefined for none. */
  get(name: string): string | undefined;
  /** Number of names in force. */
  readonly size: number;
  /** Puts (or, with undefined, removes) one name; returns the step that HAProxy's overlay needs, if any. */
  change(name: string, record: string | undefined): OverlayStep | undefined;
  /**
   * While this is set, what HAProxy's base holds is not known: every change is then said in the overlay, even one that the
   * base should have already.
   */
  isBaseUnknown: boolean;
  /** Begins to fold the overlay into the base. One fold at a time. */
  beginFold(): Fold;
  /** Replaces everything. */
  reset(base: Map<string, string>, overlay?: Map<string, string>): void;
};

/** An empty two-level map. */
export const createTwoLevelMap = (): TwoLevelMap => {
  let base = new Map<string, string>();
  let overlay = new Map<string, string>();
  let size = 0;
  let isFolding = false;
  let isBaseUnknown = false;

  const get = (name: string): string | undefined => {
    const record = overlay.get(name) ?? base.get(name);
    return record === removedRecord ? undefined : record;
  };

  const isInBase = (name: string, record: string): boolean =>
    record === removedRecord ? !base.has(name) : base.get(name) === record;

  const count = (): number => {
    let names = base.size;
    for (const [name, record] of overlay) {
      if (record === removedRecord) names -= base.has(name) ? 1 : 0;
      else if (!base.has(name)) names++;
    }
    return names;
  };

  return {
    get base() {
      return base;
    },
    get overlay() {
      return overlay;
    },
    get size() {
      return size;
    },
    get isBaseUnknown() {
      return isBaseUnknown;
    },
    set isBaseUnknown(isUnknown) {
      isBaseUnknown = isUnknown;
    },
    get,
    change(name, record) {
      const current = get(name);
      if (current === record && (!isBaseUnknown || record === undefined)) return undefined;
      if (current === undefined) size++;
      if (record === undefined) size--;
      const entry = record ?? removedRecord;
      // While a fold is under way HAProxy's base is about to become another one, so the overlay has to say everything.
      const mustSay = isFolding || isBaseUnknown;
      if (!mustSay && isInBase(name, entry)) return overlay.delete(name) ? { type: 'remove', name } : undefined;
      const type = overlay.has(name) ? 'set' : 'add';
      overlay.set(name, entry);
      return { type, name, record: entry };
    },
    beginFold() {
      if (isFolding) throw new Error('a fold is already under way');
      isFolding = true;
      const snapshot = new Map(overlay);
      return {
        *entries() {
          for (const [name, record] of base) {
            const recent = snapshot.get(name) ?? record;
            if (recent !== removedRecord) yield [name, recent];
          }
          for (const [name, record] of snapshot) if (record !== removedRecord && !base.has(name)) yield [name, record];
        },
        commit() {
          isFolding = false;
          for (const [name, record] of snapshot) {
            if (record === removedRecord) base.delete(name);
            else base.set(name, record);
          }
          for (const [name, record] of overlay) if (isInBase(name, record)) overlay.delete(name);
        },
        abort() {
          isFolding = false;
        },
      };
    },
    reset(newBase, newOverlay = new Map()) {
      base = newBase;
      overlay = newOverlay;
      size = count();
    },
  };
};
