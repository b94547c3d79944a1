import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createNameCache } from './name-cache.ts';

test('gives every name exactly, however alike they are and however often they come', () => {
  // Few letters and lengths, so that different names meet in one bucket.
  const name = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\u00ff'), minLength: 0, maxLength: 6 });
  fc.assert(
    fc.property(fc.array(name, { maxLength: 200 }), (names) => {
      const cache = createNameCache();
      for (const text of [...names, ...names]) {
        const bytes = Buffer.from(`<${text}>`, 'latin1');
        expect(cache(bytes, 1, bytes.length - 1)).toBe(text);
      }
    }),
  );
});

test('goes on giving names beyond what it keeps', () => {
  const cache = createNameCache();
  for (let i = 0; i < 5000; i++) {
    const bytes = Buffer.from(`name-${i}`);
    expect(cache(bytes, 0, bytes.length)).toBe(`name-${i}`);
  }
  const long = Buffer.alloc(5000, 'x');
  expect(cache(long, 0, 5000)).toBe('x'.repeat(5000));
});
