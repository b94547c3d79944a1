import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { APPLIED, notApplied } from '@sallyport/enforcement/live-map';
import { type Actor, systemActor } from '@sallyport/store/actor';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openPendingNote, pendingResets, settle } from './pending.ts';
import { createReset, DISABLED_MODULES, type Reset } from './reset.ts';

const told: string[] = [];
const log = pino({ level: 'info' }, { write: (line) => void told.push(line) });
const actor: Actor = { ...systemActor('test'), ip: '127.0.0.1' };

describe('the emergency reset', () => {
  let dataDir: string;
  let order: string[];
  let storeFails: boolean;
  let proxyFails: boolean;
  let proxyHangs: Promise<void> | undefined;
  const resets: Reset[] = [];

  const start = (): Reset => {
    const reset = createReset({
      async openProxy() {
        order.push('proxy');
        await proxyHangs;
        return proxyFails ? notApplied('HAProxy is not running') : APPLIED;
      },
      async switchOff() {
        if (storeFails) throw new Error('database is locked');
        order.push('store');
      },
      note: openPendingNote(dataDir, 'test'),
      log,
    });
    resets.push(reset);
    return reset;
  };
  /** What a process that starts now would find. */
  const noted = () => {
    const note = openPendingNote(dataDir, 'test');
    try {
      return note.read();
    } finally {
      note.close();
    }
  };

  beforeEach(() => {
    told.length = 0;
    dataDir = mkdtempSync(join(tmpdir(), 'sallyport-recovery-'));
    order = [];
    storeFails = false;
    proxyFails = false;
    proxyHangs = undefined;
  });
  afterEach(async () => {
    for (const reset of resets.splice(0)) await reset.stop();
    rmSync(dataDir, { recursive: true });
  });

  test('opens the proxy before it asks the store, and once more afterwards', async () => {
    const answer = await start().run(actor);
    expect(answer).toEqual({
      success: true,
      message: 'All security modules are switched off',
      disabled_modules: [...DISABLED_MODULES],
    });
    await expect.poll(() => order).toEqual(['proxy', 'store', 'proxy']);
    expect(noted()).toBe('');
  });

  test('is stored and answered while HAProxy hangs, which is told as soon as it goes on', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    proxyHangs = promise;
    const reset = start();
    expect(await reset.run(actor)).toEqual({
      success: true,
      message:
        'All security modules are switched off; the proxy could not be told (HAProxy has not answered so far) and starts open',
      disabled_modules: [...DISABLED_MODULES],
    });
    expect(order).toEqual(['proxy', 'store', 'proxy']);
    expect(noted()).toBe('');
    storeFails = true;
    expect(await reset.run(actor)).toMatchObject({ success: false });
    expect(noted()).not.toBe('');
    resolve();
  });

  test('answers while the store can not be written, and stores when it can', async () => {
    storeFails = true;
    const answer = await start().run(actor);
    expect(answer).toMatchObject({ success: true, message: expect.stringContaining('tried again every second') });
    expect(noted()).not.toBe('');
    await expect.poll(() => order.length).toBeGreaterThan(2);
    // The log tells why, and not every second.
    expect(told.filter((line) => line.includes('database is locked'))).toHaveLength(1);
    storeFails = false;
    await expect.poll(() => order).toContain('store');
    await expect.poll(noted).toBe('');
  });

  test('is taken up by the next process when the first could not store it', async () => {
    storeFails = true;
    const first = start();
    await first.run(actor);
    await resets.pop()?.stop();
    storeFails = false;
    start();
    await expect.poll(() => order).toContain('store');
    await expect.poll(noted).toBe('');
  });

  test('of a process that is not started any more is taken up by any other', async () => {
    const note = openPendingNote(dataDir, 'other');
    note.write(new Date().toISOString());
    start();
    await expect.poll(() => pendingResets(dataDir)).toEqual([]);
    expect(order).toContain('store');
    note.close();
  });

  test('is not stored a second time when another process has stored it: the suite may be on again since', async () => {
    storeFails = true;
    const reset = start();
    await reset.run(actor);
    await reset.run(actor);
    for (const pending of pendingResets(dataDir)) settle(pending);
    storeFails = false;
    const before = [...order];
    const ended = () => told.filter((line) => line.includes('another process has stored')).length;
    await expect.poll(ended).toBe(2);
    // Nor is the proxy opened again.
    expect(order).toEqual(before);
  });

  test.each([
    ['nothing', ''],
    ['zeros, as after a power cut', '\0'.repeat(512)],
    ['a part of a moment', '2026-05-02T12:0'],
  ])('was not asked for by a note of %s', (_what, text) => {
    mkdirSync(join(dataDir, 'emergency'));
    writeFileSync(join(dataDir, 'emergency', 'test.pending'), text);
    expect(pendingResets(dataDir)).toEqual([]);
    expect(noted()).toBe('');
  });

  test('says so when the proxy does not answer, and succeeds by what is stored', async () => {
    proxyFails = true;
    expect(await start().run(actor)).toMatchObject({ success: true, message: expect.stringContaining('starts open') });
    storeFails = true;
    expect(await start().run(actor)).toMatchObject({ success: false });
  });
});
