import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const DIST = join(import.meta.dirname, '../../apps/web/dist');
/** What a browser may have to fetch of scripts before anything is shown, packed. */
const MOST_BYTES = 250_000;
/** Of scripts for a screen: a browser asks for six at a time over HTTP/1.1. */
const MOST_FILES = 15;

/** The scripts that one imports, and those that they do. */
const needed = (name: string, found = new Set<string>()): Set<string> => {
  if (found.has(name)) return found;
  found.add(name);
  const text = readFileSync(join(DIST, 'assets', name), 'utf8');
  for (const [, other = ''] of text.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g)) needed(other, found);
  return found;
};

test('the scripts of the first load are small', () => {
  const page = readFileSync(join(DIST, 'index.html'), 'utf8');
  const scripts = [...page.matchAll(/"\/(assets\/[^"]+\.js)"/g)].map(([, path = '']) => path);
  const sizes = scripts.map((path) => gzipSync(readFileSync(join(DIST, path))).length);
  expect(scripts.length).toBeGreaterThan(0);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST_BYTES);
});

test('a screen comes in few files', () => {
  const scripts = readdirSync(join(DIST, 'assets')).filter((name) => name.endsWith('.js'));
  const counts = scripts.map((name) => ({ name, files: needed(name).size }));
  // It tells at all.
  expect(Math.max(...counts.map(({ files }) => files))).toBeGreaterThan(2);
  expect(counts.filter(({ files }) => files > MOST_FILES)).toEqual([]);
});
