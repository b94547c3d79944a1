import { startApp, type TestApp } from '@sallyport/server/testing/start-app';
import { afterAll, beforeAll } from 'vitest';
import { shareBrowser, type TestBrowser } from './browser.ts';
import { createSignedIn } from './signed-in.ts';

/** A browser and a server for the tests of one file, started before them and ended after. `signedIn`: see `createSignedIn`. */
export const startWeb = () => {
  let browser: TestBrowser;
  let app: TestApp;
  beforeAll(async () => {
    [browser, app] = await Promise.all([shareBrowser(), startApp('sqlite')]);
  });
  afterAll(async () => {
    await browser?.stop();
    await app?.stop();
  });
  return {
    /** There as soon as the tests run. */
    get app(): TestApp {
      return app;
    },
    signedIn: createSignedIn(
      () => browser,
      () => app,
    ),
  };
};
