import type { Section } from './parse.ts';

/** Computed once for a section: a frontend may have ten thousand names, and a `defaults` section as many proxies. */
export const once = <T>(compute: (section: Section) => T): ((section: Section) => T) => {
  const known = new WeakMap<Section, { value: T }>();
  return (section) => {
    const found = known.get(section) ?? { value: compute(section) };
    known.set(section, found);
    return found.value;
  };
};
