import { HaproxyError, type Section } from './parse.ts';

/** HAProxy has no such limit, and nobody writes five. */
const MAX_DEEP = 20;

/** The sections whose lines hold for a proxy: its own first, then the `defaults` that it stands on. */
export type LinesOf = (section: Section) => readonly Section[];

/**
 * Which `defaults` each section stands on: those that it names with `from`, or else the last ones before it. Throws a `HaproxyError` for
 * ones that are not there.
 */
export const linesOf = (sections: readonly Section[]): LinesOf => {
  const byName = new Map<string, Section>();
  const stacks = new Map<Section, readonly Section[]>();
  let last: Section | undefined;
  for (const section of sections) {
    const { kind, name, from, at } = section;
    const below = from === undefined ? (kind === 'defaults' ? undefined : last) : byName.get(from);
    if (from !== undefined && !below)
      throw new HaproxyError(`there are no defaults ${from} before`, at, `from ${from}`);
    const stack = [section, ...(below ? (stacks.get(below) ?? []) : [])];
    if (stack.length > MAX_DEEP) throw new HaproxyError('there are too many defaults on defaults', at, name);
    stacks.set(section, stack);
    if (kind !== 'defaults') continue;
    last = section;
    if (name !== '') byName.set(name, section);
  }
  return (section) => stacks.get(section) ?? [section];
};
