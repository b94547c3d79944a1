/** An address policy that lets everything be asked: what tests ask is on loopback. */
export const anywhere = { isBlockedAddress: () => false, isBlockedName: () => false };
