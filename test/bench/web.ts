/**
 * The interface with 10,000 hosts in a real browser: until the first rows stand on the screen, until a search is shown, and frames while scrolling and
 * while the live log runs.
 * Run: npm run bench:web (needs Debian's Chromium). Prints one line a figure; on a machine that does nothing else.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { startBrowser } from '../support/browser.ts';
import buildWeb from '../support/build-web.ts';
import { freePorts } from '../support/free-ports.ts';
import { until } from '../support/until.ts';
import { measureLiveLog } from './live-log.ts';
import { fillStore } from './many-hosts.ts';

const HOSTS = 10_000;
const LOADS = 7;
const FRAMES = 300;
/** A page down by the wheel in two frames: faster than anybody reads. */
const PIXELS_A_FRAME = 300;
const SEARCHES = ['host-4321', 'customer-17', 'example', 'nothing like it', 'host-99', 'customer-976', '127.0.0.1'];

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const worst = (values: readonly number[]): number => Math.max(...values);
const ms = (value: number): string => `${value.toFixed(0)} ms`;

/** How smooth frames of these lengths are. */
const inWords = (lengths: readonly number[]): string => {
  const frame = median(lengths);
  const late = lengths.filter((length) => length > 1.5 * frame).length;
  return `${late} of ${lengths.length} frames late, the longest ${ms(worst(lengths))}, one ${frame.toFixed(1)} ms`;
};

/** Milliseconds from the beginning of the navigation until what the selector names has been painted. */
const untilPainted = async (page: Page, path: string, selector: string): Promise<number> => {
  await page.goto('about:blank');
  await page.goto(path, { waitUntil: 'commit' });
  await page.locator(selector).first().waitFor();
  return page.evaluate<number>(
    'new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))',
  );
};

/** Milliseconds from a change of the search until the frame that shows what was found. */
const search = (page: Page, text: string): Promise<number> =>
  page.evaluate<number>(`new Promise((done) => {
    const input = document.querySelector('input[type=search]');
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, ${JSON.stringify(text)});
    const start = performance.now();
    input.dispatchEvent(new Event('input', { bubbles: true }));
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
  })`);

/** Lengths of the frames while what the selector names is scrolled, in milliseconds. */
const scroll = (page: Page, selector: string): Promise<number[]> =>
  page.evaluate<number[]>(`new Promise((done) => {
    const table = document.querySelector('${selector}');
    const lengths = [];
    let before;
    const step = (now) => {
      if (before !== undefined) lengths.push(now - before);
      before = now;
      if (lengths.length === ${FRAMES}) return done(lengths);
      table.scrollTop += ${PIXELS_A_FRAME};
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })`);

/** What the page's thread does, by the browser's count. */
const WORK = {
  TaskDuration: 'in all',
  ScriptDuration: 'script',
  RecalcStyleDuration: 'style',
  LayoutDuration: 'layout',
};

/** Processor time of the page's thread while it works, shared out among frames. Others on the machine have no part in it. */
const processorTime = async (page: Page, frames: number, work: () => Promise<unknown>): Promise<string> => {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const read = async () =>
    new Map((await session.send('Performance.getMetrics')).metrics.map(({ name, value }) => [name, value]));
  const before = await read();
  await work();
  const after = await read();
  await session.detach();
  const spent = (name: string) => (((after.get(name) ?? 0) - (before.get(name) ?? 0)) * 1_000) / frames;
  return Object.entries(WORK)
    .map(([name, word]) => `${spent(name).toFixed(1)} ms ${word}`)
    .join(', ');
};

/** Rows of nothing but text, all in the page: what scrolling costs on this machine at least. */
const PLAIN_ROWS = `<style>
  #plain { height: 600px; overflow: auto; font: 14px sans-serif }
  #plain div { height: 44px; contain: strict }
</style><div id="plain">${Array.from({ length: HOSTS }, (_, index) => `<div>host-${index}.example.com 127.0.0.1</div>`).join('')}</div>`;

buildWeb();
const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-bench-'));
const [port = 0] = await freePorts(1);
await fillStore(dataDir, { count: HOSTS, originPort: 9 });
const main = fileURLToPath(new URL('../../apps/server/src/main.ts', import.meta.url));
const server = spawn(process.execPath, [main], {
  env: { PATH: process.env.PATH, SALLYPORT_DATA_DIR: dataDir, SALLYPORT_HTTP_BIND: `127.0.0.1:${port}` },
  stdio: ['ignore', 'ignore', 'inherit'],
});
const browser = await startBrowser();
try {
  const url = `http://127.0.0.1:${port}`;
  await until(
    'the server answers',
    async () => (await fetch(`${url}/api/v1/health`).catch(() => undefined))?.ok === true,
    60_000,
  );
  const { page } = await browser.open(url);
  await page.request.post('/api/v1/setup', { data: { email: 'a@example.com', password: 'correct horse' } });

  const loads = async (path: string, selector: string): Promise<string> => {
    const times: number[] = [];
    for (let run = 0; run < LOADS; run++) times.push(await untilPainted(page, path, selector));
    return `${ms(median(times))}, at most ${ms(worst(times))} (${LOADS} loads)`;
  };
  console.log(`a screen without hosts is there after ${await loads('/account', 'h1')}`);
  console.log(`${HOSTS} hosts are there after ${await loads('/hosts', '[role=row] a')}`);

  const searches: number[] = [];
  for (const text of [...SEARCHES, ...SEARCHES]) {
    searches.push(await search(page, text));
    searches.push(await search(page, ''));
  }
  console.log(`a search of ${HOSTS} hosts is shown after ${ms(median(searches))}, at most ${ms(worst(searches))}`);

  console.log(`scrolling: ${inWords(await scroll(page, '[role=table]'))}`);
  await page.locator('[role=table]').evaluate((table) => table.scrollTo(0, 0));
  const perFrame = (selector: string) => processorTime(page, FRAMES, () => scroll(page, selector));
  console.log(`processor time of a frame: ${await perFrame('[role=table]')}`);

  const { frames, lastAfterMs } = await measureLiveLog(page, dataDir);
  console.log(`1,000 log entries a second: ${inWords(frames)}; the last is shown after ${ms(lastAfterMs)}`);

  await page.goto('about:blank');
  await page.setContent(PLAIN_ROWS);
  console.log(`scrolling rows of plain text: ${inWords(await scroll(page, '#plain'))}`);
  console.log(`processor time of a frame: ${await perFrame('#plain')}`);
} finally {
  await browser.stop();
  server.kill('SIGTERM');
  await new Promise((resolve) => server.once('exit', resolve));
  rmSync(dataDir, { recursive: true, force: true });
}
