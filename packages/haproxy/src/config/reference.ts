/**
 * The reference on every page of ours and on its log entry is a UUID: the connection's, but for the last digits, and a number that it
 * won't give again in four thousand million. It is made for who asks for it first, page, log or guard, since most requests
 * never need one.
 */
export const connectionReference = (): string => `\
  # The reference of a page or log entry: a UUID of the connection, whose last digits are each request's own.
  tcp-request session set-var(sess.reference) uuid(),bytes(0,24)
`;

const NUMBER_DIGITS = 12;
const REFERENCE_LENGTH = 36;

/** Sample: the request's reference, made now unless it has one. (Of the old one, if any, and a new one, the first.) */
export const reference = [
  `rand,hex,bytes(4,${NUMBER_DIGITS}),lower,set-var(txn.number),bytes(${NUMBER_DIGITS})`,
  'concat(,txn.reference),concat(,sess.reference),concat(,txn.number)',
  `bytes(0,${REFERENCE_LENGTH}),set-var(txn.reference)`,
].join(',');
