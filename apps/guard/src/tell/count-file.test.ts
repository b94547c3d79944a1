import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCountFile, openSlot, readCountFile, SLOTS, slabIn } from './count-file.ts';
import { createCounter } from './counts.ts';

describe('the file of counters', () => {
  let directory: string;
  let path: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'sp-counts-'));
    path = join(directory, 'counters');
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  /** What a thread does: count, then save. */
  const count = (file: ReturnType<typeof createCountFile>, slot: number, blocked: number) => {
    const slab = slabIn(file.shared, slot);
    const counter = createCounter(slab);
    for (let i = 0; i < blocked; i++) counter.add('blocked');
    counter.took(0.3);
    const open = openSlot(path, slot, slab);
    open.save();
    return open;
  };

  test('tells what was counted to whoever reads it later, without a word from the process', () => {
    const file = createCountFile(path);
    count(file, file.take(), 3).close();
    count(file, file.take(), 4).close();
    const found = readCountFile(path);
    expect(found?.instance).toBe(file.instance);
    expect(found?.counts).toMatchObject({ blocked: 7, requests: 0 });
    expect(found?.counts.verdict_seconds.buckets.reduce((sum, n) => sum + n)).toBe(2);
    expect(found?.counts).toEqual(file.counts());
  });

  test('an ended thread is counted once, and its slot is used again', () => {
    const file = createCountFile(path);
    const slot = file.take();
    count(file, slot, 5).close();
    file.release(slot);
    expect(file.counts().blocked).toBe(5);
    expect(readCountFile(path)?.counts.blocked).toBe(5);
    expect(file.take()).toBe(slot);
    expect(file.counts().blocked).toBe(5);
  });

  test('a new process starts at zero under another name', () => {
    const before = createCountFile(path);
    count(before, before.take(), 5).close();
    const after = createCountFile(path);
    expect(after.instance).not.toBe(before.instance);
    expect(readCountFile(path)).toMatchObject({ instance: after.instance, counts: { blocked: 0 } });
  });

  test('has a bounded number of slots', () => {
    const file = createCountFile(path);
    for (let i = 1; i < SLOTS; i++) file.take();
    expect(() => file.take()).toThrow('too many');
  });

  test('is not believed when it is cut short, or not there', () => {
    createCountFile(path);
    truncateSync(path, 100);
    expect(readCountFile(path)).toBeUndefined();
    writeFileSync(path, '');
    expect(readCountFile(path)).toBeUndefined();
    expect(readCountFile(join(directory, 'none'))).toBeUndefined();
  });
});

test('without a disk it is counted all the same', () => {
  const path = '/nonexistent/guard-0.counters';
  const file = createCountFile(path);
  const slot = file.take();
  const slab = slabIn(file.shared, slot);
  const open = openSlot(path, slot, slab);
  createCounter(slab).add('requests');
  open.save();
  open.close();
  file.release(slot);
  expect(file.counts().requests).toBe(1);
  expect(readCountFile(path)).toBeUndefined();
});
