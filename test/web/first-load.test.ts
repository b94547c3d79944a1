import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const DIST = join(import.meta.dirname, '../../apps/web/dist');
/** What a browser may have to fetch of scripts before anything is shown, packed. */
const MOST_BYTES = 250_000;

test('the scripts of the first load are small', () => {
  const page = readFileSync(join(DIST, 'index.html'), 'utf8');
  const scripts = [...page.matchAll(/"\/(assets\/[^"]+\.js)"/g)].map(([, path = '']) => path);
  const sizes = scripts.map((path) => gzipSync(readFileSync(join(DIST, path))).length);
  expect(scripts.length).toBeGreaterThan(0);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST_BYTES);
});
