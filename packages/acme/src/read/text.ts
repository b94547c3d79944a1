/** Control characters, and those that reverse or hide what stands beside them: the CA's words end up in logs and terminals. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu;

/** A foreign text of at most `length` characters for people to read; empty when it is none. */
export const readText = (value: unknown, length: number): string => {
  if (typeof value !== 'string') return '';
  // Cut first: what is replaced is bounded, whatever comes.
  const text = value
    .slice(0, length * 2)
    .replace(UNSEEN, ' ')
    .trim();
  return text.length > length ? `${text.slice(0, length - 1).toWellFormed()}…` : text.toWellFormed();
};
