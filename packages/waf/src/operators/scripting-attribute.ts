const isTagNameStart = (char: number): boolean => (char | 0x20) >= 0x61 && (char | 0x20) <= 0x7a;
/**
 * An attribute whose name begins with "on", of whatever event, for browsers learn new ones faster than lists of them; a
 * style, which can carry script; a namespace, which can make any element a script.
 */
const scripting = /[\s\0/"'`](?:on[a-z][a-z0-9_-]{2,60}|style|xmlns)[\s\0]*=/gi;

/**
 * Whether a text opens a tag with an attribute that libinjection takes for script and libddwaf's cut of it does not.
 * Linear: each stretch between two `<` is looked at once.
 */
export const hasScriptingAttribute = (text: string): boolean => {
  for (let at = text.indexOf('<'); at >= 0; ) {
    const next = text.indexOf('<', at + 1);
    if (isTagNameStart(text.charCodeAt(at + 1))) {
      const tag = text.slice(at + 1, next < 0 ? undefined : next);
      scripting.lastIndex = 0;
      if (scripting.test(tag)) return true;
    }
    at = next;
  }
  return false;
};
