/** Hosts that answer 503 for a moment, whatever is stored of them; of several who close one the last opens it. */
export const createClosedHosts = () => {
  const closers = new Map<number, number>();

  return {
    has: (id: number): boolean => closers.has(id),

    /** What it returns takes it back, once. */
    close(ids: readonly number[]): () => void {
      for (const id of ids) closers.set(id, (closers.get(id) ?? 0) + 1);
      let isOpen = false;
      return () => {
        if (isOpen) return;
        isOpen = true;
        for (const id of ids) {
          const others = (closers.get(id) ?? 1) - 1;
          if (others === 0) closers.delete(id);
          else closers.set(id, others);
        }
      };
    },
  };
};
