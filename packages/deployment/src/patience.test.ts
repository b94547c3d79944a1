import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { standStill } from '../../../test/support/stand-still.ts';
import { answerDeadline, watchSilence } from './patience.ts';

const LIMIT_MS = 200;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sallyport-patience-'));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true });
});

/** Another process, which speaks while this one stands still; `standStill` returns when that lies there to be read. */
const speaker = async () => {
  const spoke = join(directory, 'spoke');
  const child = spawn('sh', ['-c', `read go; echo word; : > '${spoke}'; read end`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child, 'spawn');
  return {
    output: child.stdout,
    async standStillWhileItSpeaks() {
      // In the turn after reading: what is next are the timers, and then comes what was said.
      await nextTurn();
      child.stdin.write('go\n');
      standStill(3 * LIMIT_MS, spoke);
    },
    async end() {
      child.stdin.end();
      await once(child, 'close');
    },
  };
};

describe('while this process stands still, longer than the limit', () => {
  test('what was said meanwhile is heard', async () => {
    const other = await speaker();
    let isSilent = false;
    const heard = once(other.output, 'data');
    const watch = watchSilence(LIMIT_MS, () => {
      isSilent = true;
    });
    other.output.on('data', () => watch.stop());
    await other.standStillWhileItSpeaks();
    await heard;
    expect(isSilent).toBe(false);
    await other.end();
  });

  test('an answer that came meanwhile is in time', async () => {
    const other = await speaker();
    const deadline = answerDeadline(LIMIT_MS);
    const heard = once(other.output, 'data', { signal: deadline });
    await other.standStillWhileItSpeaks();
    expect(String(await heard)).toBe('word\n');
    await other.end();
  });

  test('several times in a row, it is no silence of theirs', async () => {
    let isSilent = false;
    const watch = watchSilence(LIMIT_MS, () => {
      isSilent = true;
    });
    for (const _ of Array.from({ length: 4 })) {
      standStill(LIMIT_MS);
      // Timers run, and what there is to read is read.
      await nextTurn();
    }
    watch.stop();
    expect(isSilent).toBe(false);
  });
});

test('who says nothing is silent after the limit, counted from their last word, and not before', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const onSilence = vi.fn();
  const watch = watchSilence(LIMIT_MS, onSilence);
  const pass = async (ms: number) => {
    vi.advanceTimersByTime(ms);
    await nextTurn();
  };
  await pass(LIMIT_MS - 1);
  watch.heard();
  await pass(LIMIT_MS - 1);
  expect(onSilence).not.toHaveBeenCalled();
  await pass(1);
  await pass(3 * LIMIT_MS);
  expect(onSilence).toHaveBeenCalledTimes(1);
  expect(vi.getTimerCount()).toBe(0);
});

test('who is not watched any more is never silent', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const onSilence = vi.fn();
  const watch = watchSilence(LIMIT_MS, onSilence);
  vi.advanceTimersByTime(LIMIT_MS);
  // In the moment in which what has arrived is read.
  watch.stop();
  watch.heard();
  await nextTurn();
  vi.advanceTimersByTime(3 * LIMIT_MS);
  await nextTurn();
  expect(onSilence).not.toHaveBeenCalled();
});

test('a deadline ends as that of the platform does', async () => {
  const deadline = answerDeadline(1);
  await once(deadline, 'abort');
  const theirs = AbortSignal.timeout(0);
  await once(theirs, 'abort');
  expect(String(deadline.reason)).toBe(String(theirs.reason));
});
