/**
 * Memory that many automata share. While less than `limit` bytes are in use each may hold `generousBytes`, afterwards
 * only `frugalBytes`: then it forgets its states and grows them again as needed.
 */
export type AutomatonMemory = { used: number; readonly limit: number };

export const generousBytes = 2 * 1024 * 1024;
export const frugalBytes = 96 * 1024;

/** A limit in bytes for the automata of the patterns it is given to. */
export const createAutomatonMemory = (limit: number): AutomatonMemory => ({ used: 0, limit });

/** What all patterns of the process share unless told otherwise: ordinary traffic needs a tenth of it. */
export const processMemory: AutomatonMemory = createAutomatonMemory(48 * 1024 * 1024);

/** What one automaton has taken from the shared memory. */
export type MemoryShare = { readonly memory: AutomatonMemory; bytes: number };

const released = new FinalizationRegistry<MemoryShare>((share) => {
  share.memory.used -= share.bytes;
});

/** Opens a share that is given back when its owner is garbage: rule sets are replaced, never closed. */
export const shareMemory = (memory: AutomatonMemory): { share: MemoryShare; ownedBy(owner: object): void } => {
  const share = { memory, bytes: 0 };
  return { share, ownedBy: (owner) => released.register(owner, share) };
};

/** Notes how many bytes the share now holds. */
export const resizeShare = (share: MemoryShare, bytes: number): void => {
  share.memory.used += bytes - share.bytes;
  share.bytes = bytes;
};
