const isTagNameStart = (char: number): boolean => (char | 0x20) >= 0x61 && (char | 0x20) <= 0x7a;
/** An attribute whose name begins with "on", of whatever event: browsers learn new ones faster than lists of them. */
const handler = /[\s\0/"'`](on[a-z][a-z0-9_-]{2,60})[\s\0]*=/gi;

/**
 * Whether a text opens a tag that has an event handler, known or not. libddwaf's cut of libinjection lists the handlers
 * of some years ago. Linear: each stretch between two `<` is looked at once.
 */
export const hasEventHandler = (text: string): boolean => {
  for (let at = text.indexOf('<'); at >= 0; ) {
    const next = text.indexOf('<', at + 1);
    if (isTagNameStart(text.charCodeAt(at + 1))) {
      const tag = text.slice(at + 1, next < 0 ? undefined : next);
      handler.lastIndex = 0;
      if (handler.test(tag)) return true;
    }
    at = next;
  }
  return false;
};
