import { clientPrefix } from '@sallyport/access';

export interface PlacesOptions {
  /** Whether the reset can open to this address at all. */
  isManagement(address: string): boolean;
  /** Connections at once: of everybody, of one client (/32, /64), and of all that are outside the management ranges. */
  most: { all: number; perClient: number; strangers: number };
}

/**
 * Makes the question whether one more connection of an address is taken; `leave` ends one that was. Strangers and a single client
 * can't fill the listener: its operator must always get in.
 */
export const createPlaces = ({ isManagement, most }: PlacesOptions) => {
  const clients = new Map<string, number>();
  let all = 0;
  let strangers = 0;
  return (address: string): { leave(): void } | undefined => {
    const client = clientPrefix(address);
    const ofClient = clients.get(client) ?? 0;
    const isStranger = !isManagement(address);
    if (all >= most.all || ofClient >= most.perClient || (isStranger && strangers >= most.strangers)) return undefined;
    all += 1;
    strangers += isStranger ? 1 : 0;
    clients.set(client, ofClient + 1);
    return {
      leave() {
        all -= 1;
        strangers -= isStranger ? 1 : 0;
        const left = (clients.get(client) ?? 1) - 1;
        if (left === 0) clients.delete(client);
        else clients.set(client, left);
      },
    };
  };
};
export type Places = ReturnType<typeof createPlaces>;
