import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BodyTooLarge, createBodyHolder, SpoolFull } from './held-body.ts';

describe('a body that is held', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'sp-held-'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  const holder = (parts: { limit?: number; spoolBytes?: number } = {}) =>
    createBodyHolder({ directory, limit: 10_000, memoryBytes: 100, spoolBytes: 20_000, ...parts });
  const source = (bytes: number, chunkBytes = 64) =>
    Readable.from(
      Array.from({ length: Math.ceil(bytes / chunkBytes) }, (_, i) =>
        Buffer.alloc(Math.min(chunkBytes, bytes - i * chunkBytes), i % 251),
      ),
      { objectMode: false },
    );
  const wholeOf = async (bytes: number): Promise<Buffer> => Buffer.concat(await source(bytes).toArray());

  test.each([0, 1, 100, 101, 5_000, 10_000])('of %i bytes is given back as it was, twice over', async (bytes) => {
    const body = await holder().hold(source(bytes));
    expect(body.bytes).toBe(bytes);
    expect(Buffer.from(body.whole())).toEqual(await wholeOf(bytes));
    const stream = body.stream();
    const sent = stream instanceof Readable ? Buffer.concat(await stream.toArray()) : stream;
    expect(sent).toEqual(await wholeOf(bytes));
    expect(readdirSync(directory)).toEqual([]);
    await body.close();
  });

  test('over the limit is refused', async () => {
    await expect(holder().hold(source(10_001))).rejects.toThrow(BodyTooLarge);
  });

  test('has to find room on the disk, which it gives back', async () => {
    const bodies = holder({ spoolBytes: 12_000 });
    const first = await bodies.hold(source(9_000));
    await expect(bodies.hold(source(9_000))).rejects.toThrow(SpoolFull);
    // Short ones need none.
    await (await bodies.hold(source(100))).close();
    await first.close();
    await (await bodies.hold(source(9_000))).close();
  });

  test('whose sender goes away gives its room back', async () => {
    const bodies = holder({ spoolBytes: 12_000 });
    const broken = Readable.from(
      (async function* () {
        yield Buffer.alloc(9_000);
        throw new Error('gone');
      })(),
    );
    await expect(bodies.hold(broken)).rejects.toThrow('gone');
    await (await bodies.hold(source(9_000))).close();
  });
});
