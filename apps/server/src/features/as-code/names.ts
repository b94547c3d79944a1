import { refuse } from '@sallyport/store/errors';

/** Something that others refer to by its name. */
export interface Named {
  uuid: string;
  name: string;
  /** What tells it apart from others of its name. */
  qualifier: string;
}

const qualified = ({ name, qualifier }: Named): string => `${name} (${qualifier})`;

/** Finds out who is meant by a name, and what everybody is called: by the name alone where no other has it. */
export const createNames = (all: readonly Named[]) => {
  const byName = Map.groupBy(all, ({ name }) => name);
  const byQualified = Map.groupBy(all, qualified);
  const isUnique = (name: string) => byName.get(name)?.length === 1;
  const labels = new Map(all.map((one) => [one.uuid, isUnique(one.name) ? one.name : qualified(one)]));
  return {
    /** Undefined for what is not there. */
    labelOf: (uuid: string): string | undefined => labels.get(uuid),

    /** The uuid of who is called that; of several, `current` when it is among them. Throws a 400 that begins with `at`. */
    find(text: string, current: string | undefined, at: string, what: string): string {
      const found = byName.get(text) ?? byQualified.get(text) ?? [];
      const [first] = found;
      if (!first) throw refuse.invalid(`${at} names no ${what}: ${JSON.stringify(text.slice(0, 80))}`);
      // Those that are alike in all that tells them apart are one to whoever is led there.
      const isOne = found.every((one) => qualified(one) === qualified(first));
      const same = found.find(({ uuid }) => uuid === current);
      if (same || isOne) return (same ?? first).uuid;
      const details = `they are ${found.slice(0, 10).map(qualified).join(', ')}`;
      throw refuse.invalid(`${at} names ${found.length} ${what}s`, { details });
    },
  };
};
export type Names = ReturnType<typeof createNames>;
