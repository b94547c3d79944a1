const chunkBytes = 64 * 1024;

/** A map file's text in chunks: `header` as comment lines, then one "key value" line per entry. */
export function* mapFileChunks(
  header: readonly string[],
  entries: Iterable<readonly [string, string]>,
): Generator<string> {
  let chunk = header.map((line) => `# ${line}\n`).join('');
  for (const [key, value] of entries) {
    chunk += `${key} ${value}\n`;
    if (chunk.length >= chunkBytes) {
      yield chunk;
      chunk = '';
    }
  }
  yield chunk;
}
