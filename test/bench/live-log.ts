import { setTimeout as sleep } from 'node:timers/promises';
import { guardBlock, sendLines } from '@sallyport/server/testing/guard-line';
import type { Page } from 'playwright-core';

const A_SECOND = 1_000;
const SECONDS = 10;
/** So many at a time, as a guard that is busy hands them over. */
const AT_ONCE = 50;

/** What the live log took upon itself. */
export interface LiveLogFigures {
  /** Lengths of the frames meanwhile, in milliseconds. */
  frames: number[];
  /** From when the last entry was sent until it was on the screen, in milliseconds. */
  lastAfterMs: number;
}

/** Sends a thousand refusals a second to a running service for ten seconds while a signed-in page shows its live log. */
export const measureLiveLog = async (page: Page, dataDir: string): Promise<LiveLogFigures> => {
  await page.goto('/logs');
  await page.getByText('Live', { exact: true }).waitFor();
  await page.evaluate(`
    window.frames_ = [];
    let before;
    const step = (now) => {
      if (before !== undefined) window.frames_.push(now - before);
      before = now;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);`);
  const started = performance.now();
  let sent = 0;
  while (sent < A_SECOND * SECONDS) {
    const portion = Array.from({ length: AT_ONCE }, (_, index) =>
      guardBlock({ reference: `n${sent + index}`, reason: `number ${sent + index} of them` }),
    );
    await sendLines(dataDir, portion);
    sent += AT_ONCE;
    await sleep(Math.max(0, started + (sent / A_SECOND) * 1_000 - performance.now()));
  }
  const ended = performance.now();
  await page
    .getByRole('log')
    .getByText(`number ${sent - 1} of them`)
    .waitFor();
  const lastAfterMs = performance.now() - ended;
  return { frames: await page.evaluate<number[]>('window.frames_'), lastAfterMs };
};
