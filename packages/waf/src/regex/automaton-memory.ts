/**
 * Memory that the automata of several patterns share. While less than `limit` bytes are in use each may hold
 * `generous` bytes, afterwards only `frugal` ones: then it forgets its states and grows them again as needed.
 */
export type AutomatonMemory = { used: number; readonly limit: number };

export const generousBytes = 2 * 1024 * 1024;
export const frugalBytes = 128 * 1024;

/** A budget in bytes for all automata of a rule set; give the same one to each of its patterns. */
export const createAutomatonMemory = (limit: number): AutomatonMemory => ({ used: 0, limit });
