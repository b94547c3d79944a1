import { copyOf, latin1 } from '../../bytes/bytes.ts';
import type { Program } from '../../model/program.ts';
import type { Finder, TxValue } from '../../model/transaction.ts';
import type { OperatorContext } from '../../operators/operator.ts';

const maxDynamicNames = 4_096;
/** The slots before are captures. */
const firstNamedSlot = 10;

/** A finder has matched this range of bytes: what it captured there. */
interface Match {
  readonly finder: Finder;
  readonly buf: Uint8Array;
  readonly start: number;
  readonly end: number;
  /** The range as text, where that is known. */
  readonly text: string | null;
}

/** The collection TX of one transaction: variables that rules set, and as TX.0–9 what a match has captured. */
export class TxVariables {
  readonly #program: Program;
  /** How operators are asked again for what they capture. */
  readonly #capturing: () => OperatorContext;
  /** Called when a variable found no room. */
  readonly #onFull: () => void;
  /** By slot; 0–9 are the captures: read them through `slotValue`. */
  readonly slots: TxValue[];
  /** Those whose names only turned up at run time. */
  readonly extra = new Map<string, TxValue>();
  #pending: Match | null = null;
  #pinned: Set<number> | null = null;

  constructor(program: Program, capturing: () => OperatorContext, onFull: () => void) {
    this.#program = program;
    this.#capturing = capturing;
    this.#onFull = onFull;
    this.slots = new Array<TxValue>(program.txNames.length).fill(undefined);
  }

  /** Starts with what rules that were folded at load have set. */
  begin(values: readonly TxValue[]): void {
    for (let slot = 0; slot < values.length; slot++) this.slots[slot] = values[slot];
  }

  /** Sets a variable that no rule changes from now on. */
  pin(key: string, value: string): void {
    const slot = this.#program.slotOf(key);
    // A name that no rule knows is read by none.
    if (slot < firstNamedSlot) return;
    this.slots[slot] = value;
    this.#pinned ??= new Set();
    this.#pinned.add(slot);
  }

  slotValue(slot: number): TxValue {
    if (slot < firstNamedSlot && this.#pending !== null) this.#resolveCaptures();
    return this.slots[slot];
  }

  /** Sets (or with undefined unsets) a variable by its slot. */
  setSlot(slot: number, value: TxValue): void {
    if (slot < firstNamedSlot && this.#pending !== null) this.#resolveCaptures();
    if (this.#pinned === null || !this.#pinned.has(slot)) this.slots[slot] = value;
  }

  read(key: string): TxValue {
    const slot = this.#program.slotOf(key);
    return slot === -1 ? this.extra.get(key) : this.slotValue(slot);
  }

  /** Sets (or with undefined unsets) a variable by its lower-case name. */
  write(key: string, value: TxValue): void {
    const slot = this.#program.slotOf(key);
    if (slot !== -1) this.setSlot(slot, value);
    else if (value === undefined) this.extra.delete(key);
    else if (this.extra.size < maxDynamicNames || this.extra.has(key)) this.extra.set(key, value);
    else this.#onFull();
  }

  storeCapture(index: number, buf: Uint8Array, start: number, end: number): void {
    if (index < firstNamedSlot) this.setSlot(index, latin1(buf, start, end));
  }

  /**
   * A finder has matched this range and its rule captures: what it captures is worked out when one is read, which is seldom. Bytes that
   * are not stable (they lie in a buffer that is used again) are copied.
   */
  captureLater(
    finder: Finder,
    buf: Uint8Array,
    start: number,
    end: number,
    isStable: boolean,
    text: string | null,
  ): void {
    this.#pending = isStable
      ? { finder, buf, start, end, text }
      : { finder, buf: copyOf(buf, start, end), start: 0, end: end - start, text };
  }

  /** Replaces TX.0–9 by the groups of a match; groups that took no part are unset, as in ModSecurity 2. */
  storeCaptures(buf: Uint8Array, groups: Int32Array): void {
    this.#pending = null;
    this.#storeGroups(buf, groups, 0, 0, null);
  }

  /** Runs `read` while captures that are set read as `mask`. */
  whileMasked<T>(mask: string, read: () => T): T {
    const captures = Array.from({ length: firstNamedSlot }, (_, slot) => this.slotValue(slot));
    for (const [slot, value] of captures.entries()) if (value !== undefined) this.slots[slot] = mask;
    const result = read();
    for (const [slot, value] of captures.entries()) this.slots[slot] = value;
    return result;
  }

  #resolveCaptures(): void {
    const { finder, buf, start, end, text } = this.#pending!;
    this.#pending = null;
    const context = this.#capturing();
    if ('match' in finder) {
      finder.match(buf, start, end, context);
      return;
    }
    const groups = finder.exec(buf, start, end, context.budget);
    if (groups !== null) this.#storeGroups(buf, groups, start, end, text);
  }

  #storeGroups(buf: Uint8Array, groups: Int32Array, start: number, end: number, text: string | null): void {
    for (let index = 0; index < firstNamedSlot; index++) {
      const from = groups[index * 2] ?? -1;
      const to = groups[index * 2 + 1]!;
      if (from < 0) this.slots[index] = undefined;
      else this.slots[index] = text !== null && from === start && to === end ? text : latin1(buf, from, to);
    }
  }
}
