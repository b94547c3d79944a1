import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Place } from '../../../../net/places/place.ts';

/** Writes a small file there, reads it back and removes it. Rejects with what went wrong. */
export const tryPlace = async (place: Place): Promise<void> => {
  const name = `sallyport-test-${randomBytes(6).toString('hex')}.txt`;
  const content = `${randomBytes(32).toString('hex')}\n`;
  const directory = await mkdtemp(join(tmpdir(), 'sallyport-copy-test-'));
  try {
    const path = join(directory, name);
    await writeFile(path, content);
    const sha256 = createHash('sha256').update(content).digest('hex');
    await place.put(name, { path, size: content.length, sha256 });
    const read = await place.get(name);
    await place.remove(name);
    if (read.toString('utf8') !== content) throw new Error('what was written there is not what is read back');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};
