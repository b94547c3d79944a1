import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answerAt } from '../../../../test/support/haproxy/answering-socket.ts';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { createProxyPulse } from './proxy-pulse.ts';

const VERSION = 'HAProxy version 2.6.12\n\n';
/** As long as HAProxy may be silent at all, and longer. */
const ALL_THE_TIME_MS = 100_000;

test('tells whether HAProxy answers, and asks it once in half a second however many want to know', () =>
  withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'admin.sock');
    let now = 10_000;
    const pulse = createProxyPulse(path, { now: () => now, waitMs: ALL_THE_TIME_MS });
    // Nobody listens.
    expect(await pulse.isUp()).toBe(false);
    const haproxy = await answerAt(path, () => VERSION);
    expect(await pulse.isUp()).toBe(false);
    now += 499;
    expect(await pulse.isUp()).toBe(false);
    expect(haproxy.asked).toEqual([]);
    now += 1;
    expect(await Promise.all([pulse.isUp(), pulse.isUp(), pulse.isUp()])).toEqual([true, true, true]);
    expect(haproxy.asked).toEqual(['show version']);
    await haproxy.stop();
    now += 499;
    expect(await pulse.isUp()).toBe(true);
    now += 1;
    expect(await pulse.isUp()).toBe(false);
  }));

test('while HAProxy says nothing who asks is answered what was known before, then that it is away', () =>
  withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'admin.sock');
    let now = 10_000;
    let isSilent = false;
    const haproxy = await answerAt(path, () => (isSilent ? undefined : VERSION));
    const pulse = createProxyPulse(path, { now: () => now, waitMs: 1 });
    await expect.poll(pulse.isUp).toBe(true);
    isSilent = true;
    now += 500;
    const first = pulse.isUp();
    // Half a second later it is still being asked: nobody asks a second time.
    now += 500;
    const second = pulse.isUp();
    now -= 500;
    expect(await Promise.all([first, second])).toEqual([true, true]);
    await expect.poll(pulse.isUp).toBe(false);
    expect(haproxy.asked).toEqual(['show version', 'show version']);
    await haproxy.stop();
  }));

test('goes by the clock of the machine', () =>
  withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'admin.sock');
    const haproxy = await answerAt(path, () => VERSION);
    expect(await createProxyPulse(path, { waitMs: ALL_THE_TIME_MS }).isUp()).toBe(true);
    await haproxy.stop();
  }));
