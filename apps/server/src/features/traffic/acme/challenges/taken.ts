/** Notes which nodes say that they took a change, for whoever waits for it. */
export const createTaken = () => {
  const changes = new Map<string, { nodes: Set<string>; told: () => void }>();
  return {
    /** Begins to listen for a change, before anybody is told of it. */
    begin(change: string) {
      const nodes = new Set<string>();
      const entry = { nodes, told: () => {} };
      changes.set(change, entry);
      return {
        /** Resolves when all of these have taken it, or after `limitMs`, with those that have not. */
        async by(wanted: readonly string[], limitMs: number): Promise<string[]> {
          const late = () => wanted.filter((node) => !nodes.has(node));
          if (late().length === 0) return [];
          const settled = Promise.withResolvers<void>();
          const timer = setTimeout(settled.resolve, limitMs);
          entry.told = () => {
            if (late().length === 0) settled.resolve();
          };
          await settled.promise;
          clearTimeout(timer);
          return late();
        },
        end: (): void => void changes.delete(change),
      };
    },

    /** A node took a change. */
    note(change: string, node: string): void {
      const entry = changes.get(change);
      entry?.nodes.add(node);
      entry?.told();
    },
  };
};
