import { atoi } from '../bytes/bytes.ts';
import type { CompileContext } from '../compile/context.ts';
import { compileMacro, hasMacro } from '../compile/macro.ts';
import type { ActionReader } from '../compile/rule-parts.ts';
import { type Effect, withFootprint } from '../model/effect.ts';
import type { Macro } from '../model/macro.ts';
import type { Transaction } from '../model/transaction.ts';
import { requireValue } from './require-value.ts';

const assignment = /^\s*(!?)\s*([A-Za-z]+)[.:]([^=]+?)\s*(?:=(.*))?$/s;

/** Collections that keep their values between transactions. */
export const persistentCollections: ReadonlySet<string> = new Set(['ip', 'global', 'session', 'user', 'resource']);

/** `setvar:tx.name=value`, `=+n`, `=-n`, `!tx.name`, `tx.name` (1); name and value may hold macros. */
export const setvarAction: ActionReader = (action, _rule, link, context) => {
  const written = requireValue(action, 'collection.name=value', context);
  if (written === null) return;
  const found = assignment.exec(written);
  const collection = (found?.[2] ?? '').toLowerCase();
  if (found === null || !(collection === 'tx' || persistentCollections.has(collection))) {
    const expected = 'tx, ip, global, session, user or resource, a dot and a name';
    context.diagnostics.error(action.valuePlace, 'setvar cannot write this', written, expected);
    return;
  }
  const name = found[3]!;
  const change = compileChange(found[1] === '!', found[4], action.valuePlace, context);
  if (collection === 'tx') link.effects.push(hasMacro(name) ? dynamicTx(name) : fixedTx(name));
  else link.effects.push(persistentEffect(collection, name));

  function fixedTx(fixed: string): Effect {
    const slot = context.txNames.slotFor(fixed);
    const effect: Effect = (tx) => {
      tx.setSlot(slot, change.apply(tx, tx.slotValue(slot)));
    };
    return withFootprint(effect, { reads: [slot, ...change.reads], readsOnlyTx: change.readsOnlyTx, writes: [slot] });
  }
  function dynamicTx(pattern: string): Effect {
    const macro = compileMacro(pattern, action.valuePlace, context);
    const effect: Effect = (tx) => {
      const key = macro.expand(tx).toLowerCase();
      tx.writeTx(key, change.apply(tx, change.needsOld ? tx.readTx(key) : undefined));
    };
    const writesPrefix = pattern.slice(0, pattern.indexOf('%{')).toLowerCase();
    return withFootprint(effect, { reads: [...macro.slots, ...change.reads], writesPrefix });
  }
  function persistentEffect(into: string, pattern: string): Effect {
    const macro: Macro = compileMacro(pattern, action.valuePlace, context);
    const effect: Effect = (tx) => {
      const key = macro.expand(tx).toLowerCase();
      const value = change.apply(tx, tx.persistentValue(into, key));
      tx.writePersistent(into, key, value === undefined ? undefined : String(value));
    };
    return withFootprint(effect, { reads: [...macro.slots, ...change.reads] });
  }
};

type Value = string | number | undefined;
type Change = {
  apply(tx: Transaction, old: Value): Value;
  /** False when `old` makes no difference: then it need not be looked up. */
  readonly needsOld: boolean;
  /** TX slots that the new value is made from, and whether it is made from nothing else. */
  readonly reads: readonly number[];
  readonly readsOnlyTx: boolean;
};

const compileChange = (
  isUnset: boolean,
  written: string | undefined,
  place: Parameters<typeof compileMacro>[1],
  context: CompileContext,
): Change => {
  const fixed = (value: Value): Change => ({ apply: () => value, needsOld: false, reads: [], readsOnlyTx: true });
  if (isUnset) return fixed(undefined);
  if (written === undefined) return fixed(1);
  const sign = written[0];
  const isSum = sign === '+' || sign === '-';
  const macro = compileMacro(isSum ? written.slice(1) : written, place, context);
  const { constant, slots: reads, readsOnlyTx } = macro;
  if (!isSum) {
    if (constant === null) return { apply: (tx) => macro.expand(tx), needsOld: false, reads, readsOnlyTx };
    return fixed(/^(?:0|[1-9]\d{0,14})$/.test(constant) ? Number(constant) : constant);
  }
  const factor = sign === '+' ? 1 : -1;
  const summand = constant === null ? null : factor * atoi(constant);
  return {
    apply: (tx, old) => numberOf(old) + (summand ?? factor * atoi(macro.expand(tx))),
    needsOld: true,
    reads,
    readsOnlyTx,
  };
};

const numberOf = (value: Value): number => (typeof value === 'number' ? value : value === undefined ? 0 : atoi(value));
