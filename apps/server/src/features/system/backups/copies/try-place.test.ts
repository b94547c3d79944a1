import { readFileSync } from 'node:fs';
import { digestOf } from '@sallyport/backup/shelf/files';
import { expect, test } from 'vitest';
import type { CopySource, Place } from '../../../../net/places/place.ts';
import { tryPlace } from './try-place.ts';

/** A place that keeps in memory, and gives back what `given` makes of what it kept. */
const placeThat = (given: (kept: Buffer) => Buffer) => {
  const files = new Map<string, Buffer>();
  const put: CopySource[] = [];
  const place: Place = {
    async put(name, source) {
      put.push(source);
      // What a real one checks while it sends.
      expect(source).toMatchObject({ size: readFileSync(source.path).length, sha256: await digestOf(source.path) });
      files.set(name, readFileSync(source.path));
    },
    get: async (name) => given(files.get(name) ?? expect.unreachable('it was put there')),
    remove: async (name) => void files.delete(name),
    close: async () => {},
  };
  return { place, files, put };
};

test('a place is good when it gives back what was put there; nothing is left, there or here', async () => {
  const { place, files, put } = placeThat((kept) => kept);
  await tryPlace(place);
  expect(put).toHaveLength(1);
  expect(files.size).toBe(0);
  for (const { path } of put) expect(() => readFileSync(path)).toThrow('ENOENT');
});

test.each([
  ['nothing', () => Buffer.alloc(0)],
  ['a part of it', (kept: Buffer) => kept.subarray(1)],
  ['what somebody else put there', () => Buffer.from('another file')],
])('one that gives back %s is none, and nothing is left there', async (_what, given) => {
  const { place, files } = placeThat(given);
  await expect(tryPlace(place)).rejects.toThrow('what was written there is not what is read back');
  expect(files.size).toBe(0);
});

test('one where nothing can be removed is none: it would be full one day', async () => {
  const { place } = placeThat((kept) => kept);
  const remove = async () => {
    throw new Error('may not be removed');
  };
  await expect(tryPlace({ ...place, remove })).rejects.toThrow('may not be removed');
});
