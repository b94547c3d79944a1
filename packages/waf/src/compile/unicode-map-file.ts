import { latin1 } from '../engine/bytes.ts';

/**
 * Reads a ModSecurity unicode.mapping file: lines `CODEPAGE (name)` or `CODEPAGE`, then one line of `hhhh:hh` pairs. Returns
 * code point → byte for the code page; throws when the file has no such page or a pair is malformed.
 */
export const readUnicodeMapFile = (file: Uint8Array, codePage: number): Map<number, number> => {
  let isWantedPage = false;
  const map = new Map<number, number>();
  for (const line of latin1(file).split(/\r?\n/)) {
    const words = line.split(/\s+/).filter(Boolean);
    if (words.length === 0 || words[0]!.startsWith('#')) continue;
    if (!words[0]!.includes(':')) {
      isWantedPage = Number(words[0]) === codePage;
      continue;
    }
    if (!isWantedPage) continue;
    for (const word of words) {
      const pair = /^([0-9a-fA-F]{1,6}):([0-9a-fA-F]{2})$/.exec(word);
      if (pair === null) throw new Error(`"${word}" is not a pair of hexadecimal numbers`);
      map.set(Number.parseInt(pair[1]!, 16), Number.parseInt(pair[2]!, 16));
    }
  }
  if (map.size === 0) throw new Error(`code page ${codePage} is not in the file`);
  return map;
};
