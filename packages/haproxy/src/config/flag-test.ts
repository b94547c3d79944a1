/** An anonymous condition that holds when the route record has this flag. */
export const flagIsSet = (bit: number): string => `{ var(txn.flags),and(${bit}) -m bool }`;
