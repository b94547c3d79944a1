import type { SecurityEvent } from './security-event.ts';

/** Hosts that are remembered; of more the ones that were quiet longest are forgotten. */
const MAX_HOSTS = 10_000;
const REMEMBERED_MS = 24 * 3_600_000;

/** Remembers for a day which hosts refused WebSocket upgrades: somebody wanted what the host is not set up for. */
export const createRefusedUpgrades = (clock: () => Date) => {
  const lastAt = new Map<number, string>();
  return {
    note({ layer, host_id, timestamp }: SecurityEvent): void {
      if (layer !== 'websocket' || host_id === null) return;
      lastAt.delete(host_id);
      lastAt.set(host_id, timestamp);
      const [oldest] = lastAt.keys();
      if (lastAt.size > MAX_HOSTS && oldest !== undefined) lastAt.delete(oldest);
    },

    /** When the host with this id last refused one; undefined when that was not lately. */
    lastAt(hostId: number): string | undefined {
      const timestamp = lastAt.get(hostId);
      if (timestamp === undefined || clock().getTime() - Date.parse(timestamp) <= REMEMBERED_MS) return timestamp;
      lastAt.delete(hostId);
      return undefined;
    },
  };
};
