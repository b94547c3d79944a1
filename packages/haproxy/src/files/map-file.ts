const chunkBytes = 64 * 1024;

/** One word that is no comment. */
const keyPattern = /^[!"$-~][!-~]*$/;
/** The rest of a line. */
const valuePattern = /^[!-~][ -~]*$/;

/**
 * A map file's text in chunks: `header` as comment lines, then one "key value" line per entry. Throws for an entry that would be
 * another line or none, whoever put it into the store: a single one would keep HAProxy from starting, or clear everybody.
 */
export function* mapFileChunks(
  header: readonly string[],
  entries: Iterable<readonly [string, string]>,
): Generator<string> {
  let chunk = header.map((line) => `# ${line}\n`).join('');
  for (const [key, value] of entries) {
    if (!keyPattern.test(key) || !valuePattern.test(value)) {
      throw new Error(`not a line of a map: ${JSON.stringify(`${key} ${value}`.slice(0, 80))}`);
    }
    chunk += `${key} ${value}\n`;
    if (chunk.length >= chunkBytes) {
      yield chunk;
      chunk = '';
    }
  }
  yield chunk;
}
