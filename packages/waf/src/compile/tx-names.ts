/**
 * Interns names of TX variables, case-insensitively, so that a rule reads a slot of an array. Slots 0–9 are the captures.
 * `slotOf` takes names in lower case and gives -1 for one that was never interned.
 */
export const createTxNames = () => {
  const names: string[] = [];
  const slots = new Map<string, number>();
  const slotFor = (name: string): number => {
    const key = name.toLowerCase();
    let slot = slots.get(key);
    if (slot === undefined) {
      slot = names.length;
      names.push(key);
      slots.set(key, slot);
    }
    return slot;
  };
  for (let digit = 0; digit < 10; digit++) slotFor(String(digit));
  return { names, slotFor, slotOf: (key: string): number => slots.get(key) ?? -1 };
};

export type TxNames = ReturnType<typeof createTxNames>;
