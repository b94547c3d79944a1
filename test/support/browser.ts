import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, type ConsoleMessage, chromium, type Page } from 'playwright-core';

/** Debian's Chromium without what draws its own windows: the same engine, by a fifth to a quarter less work. */
const CHROMIUM = '/usr/bin/chromium-headless-shell';

export interface Look {
  /** Width and height in CSS pixels. Default 1280 × 800. */
  size?: readonly [number, number];
  scheme?: 'light' | 'dark';
  language?: 'en' | 'de';
}

export interface Window {
  page: Page;
  /** What the console said that is an error, and what scripts threw. */
  errors: readonly string[];
  close(): Promise<void>;
}

/** Starts a browser without a screen. */
export const startBrowser = async () => {
  const browser: Browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--force-prefers-reduced-motion'],
  });
  return {
    /** A window of its own: no cookie or setting of another one is in it. */
    async open(baseURL: string, { size = [1280, 800], scheme = 'light', language = 'en' }: Look = {}): Promise<Window> {
      const [width, height] = size;
      const context = await browser.newContext({
        baseURL,
        viewport: { width, height },
        colorScheme: scheme,
        locale: language === 'de' ? 'de-DE' : 'en-GB',
        reducedMotion: 'reduce',
        ignoreHTTPSErrors: true,
      });
      const page = await context.newPage();
      // Everything comes in milliseconds, but not on a machine that is busy with something else.
      page.setDefaultTimeout(90_000);
      const errors: string[] = [];
      // A refusal that the interface shows is an answer like any other; the console has no say in it.
      const isAnswer = (message: ConsoleMessage) =>
        /^Failed to load resource: the server responded with a status of 4/.test(message.text()) ||
        // Without Docker there is no list of containers, and the form of a host does without.
        (message.location().url.endsWith('/api/v1/containers') && message.text().includes('a status of 503'));
      page.on('console', (message) => {
        if (message.type() === 'error' && !isAnswer(message)) errors.push(message.text());
      });
      page.on('pageerror', (error) => errors.push(String(error)));
      return { page, errors, close: () => context.close() };
    },
    stop: () => browser.close(),
  };
};
export type TestBrowser = Awaited<ReturnType<typeof startBrowser>>;

let shared: Promise<TestBrowser> | undefined;

/**
 * The browser of this process, for tests: started for the first file that asks, and ended with the process. Its windows know
 * nothing of each other; `stop` closes those that were opened here.
 */
export const shareBrowser = async (): Promise<TestBrowser> => {
  shared ??= startBrowser();
  const browser = await shared;
  const windows: Window[] = [];
  return {
    async open(...look) {
      const window = await browser.open(...look);
      windows.push(window);
      return window;
    },
    async stop() {
      await Promise.all(windows.map((window) => window.close()));
    },
  };
};

/** Names of the tables on a page that have to be scrolled sideways: on a phone nobody looks for what is to the right. */
export const tooWideTables = (page: Page): Promise<(string | null)[]> =>
  page
    .getByRole('region')
    .filter({ has: page.getByRole('table') })
    .evaluateAll((regions) =>
      regions
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map((region) => region.getAttribute('aria-label')),
    );

/** What axe-core finds on a page that is serious or worse, in a line each. Our pages have no frames: none are looked into. */
export const barriersOf = async (page: Page): Promise<string[]> => {
  const { violations } = await new AxeBuilder({ page })
    // What it passes is thousands of elements, which are not worth their way to us. They are left where they are.
    .options({ resultTypes: ['violations'] })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'])
    // Else each element is judged on another page, a blank one that is opened for it: three times the work.
    .setLegacyMode()
    .analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(' | ')}`);
};
