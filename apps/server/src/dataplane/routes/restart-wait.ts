/** How long a change waits for a HAProxy that was there a moment ago. */
const RESTART_MS = 3_000;

/**
 * Holds the answer to a change back while HAProxy restarts: it may have read its files before the change was made, and
 * would then serve what an acknowledged change has already replaced, until it is reconciled.
 */
export const createRestartWait = () => {
  /** When HAProxy was last seen to be away, ms; undefined before it was ever there, and since it is back. */
  let awaySince: number | undefined;
  let wasThere = false;
  let back = Promise.withResolvers<void>();
  return {
    /** Everything was reconciled with a HAProxy that answers. */
    reconciled(): void {
      wasThere = true;
      awaySince = undefined;
      back.resolve();
      back = Promise.withResolvers<void>();
    },

    /** Resolves with the next reconcile, or when HAProxy has been away for too long to wait. */
    async wait(): Promise<void> {
      if (!wasThere) return;
      awaySince ??= Date.now();
      const leftMs = awaySince + RESTART_MS - Date.now();
      if (leftMs <= 0) return;
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, leftMs);
      await Promise.race([back.promise, late]);
      clearTimeout(timer);
    },
  };
};
