import { mkdtempSync, readdirSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BodyHolderOptions, BodyTooLarge, createBodyHolder, type HeldBody, SpoolFull } from './held-body.ts';
import { TooSlow } from './places.ts';

describe('a body that is held', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'sp-held-'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  const roomFor = (total: number, share = total) => ({ total, share });
  const holderOf = (parts: Partial<BodyHolderOptions>) => {
    const room = { memory: roomFor(16_384), spool: roomFor(200_000) };
    const now = () => performance.now();
    return createBodyHolder({ directory, blockBytes: 4_096, diskReserve: 0, now, ...room, ...parts });
  };
  const given = (parts: Partial<BodyHolderOptions> = {}) => {
    const holder = holderOf(parts);
    const { signal } = new AbortController();
    return (from: Readable, client = '192.0.2.1'): Promise<HeldBody> =>
      holder.hold({ source: from, client, signal, onBytes: () => {}, limit: 100_000 });
  };
  const chunksOf = (bytes: number, chunkBytes = 64): Buffer[] =>
    Array.from({ length: Math.ceil(bytes / chunkBytes) }, (_, i) =>
      Buffer.alloc(Math.min(chunkBytes, bytes - i * chunkBytes), i % 251),
    );
  const source = (bytes: number): Readable => Readable.from(chunksOf(bytes), { objectMode: false });
  const wholeOf = (bytes: number): Buffer => Buffer.concat(chunksOf(bytes));

  const contentOf = async (body: HeldBody): Promise<Buffer> => {
    const stream = body.stream();
    return stream instanceof Readable ? Buffer.concat(await stream.toArray()) : stream;
  };

  test.each([0, 1, 4_096, 4_097, 8_192, 50_000, 100_000])(
    'of %i bytes is given back as it was, to a thread and to the origin',
    async (bytes) => {
      const body = await given()(source(bytes));
      expect(body.bytes).toBe(bytes);
      const { file, blocks } = body.crossing();
      const first = Buffer.alloc(file?.bytes ?? 0);
      if (file) expect(readSync(file.descriptor, first, 0, file.bytes, 0)).toBe(file.bytes);
      expect(Buffer.concat([first, ...blocks])).toEqual(wholeOf(bytes));
      // Reading it uses nothing up.
      for (let time = 1; time <= 2; time++) expect(await contentOf(body)).toEqual(wholeOf(bytes));
      expect(readdirSync(directory)).toEqual([]);
      await body.close();
      await body.close();
    },
  );

  test.each([4_096, 4_097, 10_000, 32_768, 40_000])(
    'of %i bytes is whole, too, when its memory grows with it',
    async (bytes) => {
      const body = await given({ blockBytes: 32_768, memory: roomFor(65_536) })(source(bytes));
      expect(await contentOf(body)).toEqual(wholeOf(bytes));
      await body.close();
    },
  );

  test('takes no more memory than there is, and none for ever', async () => {
    const hold = given({ blockBytes: 32_768, memory: roomFor(98_304, 32_768), spool: roomFor(0) });
    const first = await hold(source(30_000));
    // The client's share is taken, another's is not; a third finds too little left.
    await expect(hold(source(5_000))).rejects.toThrow(SpoolFull);
    const second = await hold(source(30_000), '192.0.2.2');
    await expect(hold(source(30_000), '192.0.2.3')).rejects.toThrow(SpoolFull);
    await first.close();
    const third = await hold(source(30_000), '192.0.2.3');
    for (const body of [second, third]) await body.close();
    for (let i = 0; i < 4; i++) await (await hold(source(30_000))).close();
  });

  test('over the limit is refused', async () => {
    await expect(given()(source(100_001))).rejects.toThrow(BodyTooLarge);
  });

  test('has to find room, on the disk or in memory, which it gives back', async () => {
    const hold = given({ spool: roomFor(60_000) });
    const first = await hold(source(50_000));
    await expect(hold(source(50_000))).rejects.toThrow(SpoolFull);
    // Short ones need no disk.
    await (await hold(source(4_000))).close();
    await first.close();
    await (await hold(source(50_000))).close();
  });

  test('of one client leaves room for others', async () => {
    const hold = given({ spool: roomFor(200_000, 60_000) });
    const first = await hold(source(50_000));
    await expect(hold(source(50_000))).rejects.toThrow(SpoolFull);
    await (await hold(source(50_000), '192.0.2.2')).close();
    await first.close();
  });

  /** Begins a body that brings so many bytes and then no more; `held` settles when it is over. */
  const begin = async (hold: ReturnType<typeof given>, client: string, bytes: number) => {
    const from = new Readable({ read() {} });
    const held = hold(from, client).then(
      (body) => body.close(),
      (error: unknown) => error,
    );
    const all = { client, held, isOver: false };
    void held.then(() => {
      all.isOver = true;
    });
    for (const chunk of chunksOf(bytes, 4_096)) from.push(chunk);
    await expect.poll(() => all.isOver || from.readableLength === 0).toBe(true);
    return all;
  };

  test.each([
    ['on the disk', { spool: roomFor(200_000, 80_000), memory: roomFor(40_960) }],
    ['in memory', { directory: '/nonexistent/spool', memory: roomFor(200_000, 80_000) }],
  ])('that is still coming in gives way when all room %s is taken, that of who takes most', async (_, parts) => {
    const hold = given(parts);
    const uploads = [];
    for (let index = 0; index < 20; index++) uploads.push(await begin(hold, `198.51.100.${index >> 1}`, 35_000));
    const left = uploads.filter(({ isOver }) => !isOver);
    expect(left.length).toBeGreaterThan(2);
    const body = await hold(source(25_000));
    expect(await contentOf(body)).toEqual(wholeOf(25_000));
    const gone = left.filter(({ isOver }) => isOver);
    expect(gone.length).toBeGreaterThan(0);
    for (const { held } of gone) expect(await held).toBeInstanceOf(TooSlow);
    await body.close();
  });

  test('that takes less makes no room for one that takes more', async () => {
    const hold = given({ spool: roomFor(100_000), memory: roomFor(16_384) });
    const less = await begin(hold, '192.0.2.2', 30_000);
    await expect(hold(source(90_000))).rejects.toThrow(SpoolFull);
    expect(less.isOver).toBe(false);
  });

  test('that has arrived keeps its room', async () => {
    const hold = given({ spool: roomFor(120_000) });
    const arrived = [await hold(source(50_000), '192.0.2.2'), await hold(source(30_000), '192.0.2.3')];
    await expect(hold(source(90_000))).rejects.toThrow(SpoolFull);
    for (const body of arrived) await body.close();
  });

  test.each([
    ['the directory is gone', { directory: '/nonexistent/spool' }],
    ['the rest of the disk is for others', { diskReserve: Number.MAX_SAFE_INTEGER }],
    ['the disk fills up in the middle', { spool: roomFor(20_000) }],
  ])('stays in memory when %s, up to a bound', async (_, parts) => {
    const hold = given({ memory: roomFor(40_960), ...parts });
    const body = await hold(source(35_000));
    expect(await contentOf(body)).toEqual(wholeOf(35_000));
    await expect(hold(source(90_000), '192.0.2.2')).rejects.toThrow(SpoolFull);
    await body.close();
    await (await hold(source(35_000))).close();
  });

  test('whose sender goes away gives its room back', async () => {
    const hold = given({ spool: roomFor(60_000) });
    const broken = Readable.from(
      (async function* () {
        yield Buffer.alloc(50_000);
        throw new Error('gone');
      })(),
      { objectMode: false },
    );
    await expect(hold(broken)).rejects.toThrow('gone');
    await (await hold(source(50_000))).close();
  });

  test('is not waited for any longer once it is told so', async () => {
    const holder = holderOf({ memory: roomFor(4_096), spool: roomFor(0) });
    const silent = new Readable({ read() {} });
    const abort = new AbortController();
    const about = { client: '192.0.2.1', signal: abort.signal, onBytes: () => {}, limit: 10 };
    const held = holder.hold({ source: silent, ...about });
    silent.push('a');
    abort.abort(new Error('too slow'));
    await expect(held).rejects.toThrow('too slow');
    // It can still be read on, for the refusal to arrive.
    expect(silent.destroyed).toBe(false);
  });

  test('is let alone once it is over, so that who sent too much can be read on', async () => {
    const holder = holderOf({ memory: roomFor(4_096), spool: roomFor(0) });
    const long = new Readable({ read() {} });
    const abort = new AbortController();
    const came: number[] = [];
    const onBytes = (bytes: number) => void came.push(bytes);
    const about = { client: '192.0.2.1', signal: abort.signal, onBytes, limit: 10 };
    const held = holder.hold({ source: long, ...about });
    long.push('ten bytes,');
    await expect.poll(() => came).toEqual([10]);
    long.push('and more');
    await expect(held).rejects.toThrow(BodyTooLarge);
    expect(came).toEqual([10, 8]);
    long.resume();
    abort.abort();
    expect(long.isPaused()).toBe(false);
    // Nor is one read at all whose place is gone already.
    await expect(holder.hold({ source: long, ...about })).rejects.toThrow('aborted');
    expect(long.listenerCount('data')).toBe(0);
  });
});
