/** Units of something that clients share, such as bytes of memory. */
export interface Quota {
  /** Takes so many for this client, or none: then all are taken, or the client has its share. */
  take(client: string, units: number): boolean;
  give(client: string, units: number): void;
}

/** `total` for all clients together, `share` for one of them, and less while others have taken much. */
export const createQuota = ({ total, share }: { total: number; share: number }): Quota => {
  const taken = new Map<string, number>();
  let sum = 0;
  return {
    take(client, units) {
      const before = taken.get(client) ?? 0;
      const own = before + units;
      const left = total - sum - units;
      if (own > share || left < 0) return false;
      // Beside others nobody may have more than is left: several that take all they can get leave something to a new one.
      if (sum > before && own > left) return false;
      taken.set(client, own);
      sum += units;
      return true;
    },
    give(client, units) {
      const own = (taken.get(client) ?? 0) - units;
      if (own > 0) taken.set(client, own);
      else taken.delete(client);
      sum -= units;
    },
  };
};
