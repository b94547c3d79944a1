import { type Database, openDatabase } from '@sallyport/store/database/open';
import { afterEach, beforeEach, expect } from 'vitest';
import { type Caller, createGiven } from './given-accounts.ts';
import { type DatabaseKind, startApp, type TestApp, type TestOptions } from './start-app.ts';

interface Given extends ReturnType<typeof createGiven> {
  app: TestApp;
  admin: Caller;
  /** The store of the service, beside it. */
  database: Database;
}

/** Gives each test of a group a service of its own with an administrator, and ways to change what it keeps a history of. */
export const givenHistory = (kind: DatabaseKind, env: Record<string, string> = {}, options: TestOptions = {}) => {
  let given: Given;
  beforeEach(async () => {
    const app = await startApp(kind, env, options);
    const accounts = createGiven(app);
    given = { ...accounts, app, admin: await accounts.administrator(), database: openDatabase(app.config) };
  });
  afterEach(async () => {
    await given.database.stop();
    await given.app.stop();
  });

  return {
    /** Of the test that runs. */
    here: (): Given => given,
    send: <T>(method: string, path: string, body?: unknown, headers = given.admin.headers) =>
      given.app.send<T>(method, path, body, headers),
    /** Like `send`; fails the test for an answer that is a refusal. */
    async call<T>(method: string, path: string, body?: unknown, headers = given.admin.headers): Promise<T> {
      const answer = await given.app.send<T>(method, path, body, headers);
      expect(answer.status, `${method} ${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300);
      return answer.body;
    },
  };
};
