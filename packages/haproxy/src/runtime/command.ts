/** One runtime API command: words on one line, and optionally lines that follow it as payload. */
export type Command = { words: readonly string[]; payload?: readonly string[] };

// A space or semicolon would start another word or command, a backslash an escape, "<<" a payload.
const wordPattern = /^[!-:=-[\]-~]+$/;
const linePattern = /^[ -~]+$/;

/**
 * The bytes of a command. Throws when a word or payload line could be read as anything else than what it is;
 * an empty payload line would end the payload.
 */
export const encodeCommand = ({ words, payload }: Command): string => {
  for (const word of words) {
    if (!wordPattern.test(word) || word.length > 4096)
      throw new Error(`not a command word: ${JSON.stringify(word.slice(0, 80))}`);
  }
  const line = words.join(' ');
  if (payload === undefined) return `${line}\n`;
  if (payload.length === 0) throw new Error('empty payload');
  for (const text of payload)
    if (!linePattern.test(text)) throw new Error('a payload line is empty or holds a control character');
  return `${line} <<\n${payload.join('\n')}\n\n`;
};

/** How a command appears in errors: its words only, never the payload, which may be a private key. */
export const describeCommand = ({ words }: Command): string => words.slice(0, 5).join(' ').slice(0, 200);
