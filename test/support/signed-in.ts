import type { Role } from '@sallyport/contract';
import { createGiven, PASSWORD } from '@sallyport/server/testing/given-accounts';
import type { TestApp } from '@sallyport/server/testing/start-app';
import type { Look, TestBrowser, Window } from './browser.ts';

/** A window in which `email` is signed in, at `path`. */
export const openSignedIn = async (
  browser: TestBrowser,
  baseURL: string,
  { email, path, password = PASSWORD, look }: { email: string; path: string; password?: string; look?: Look },
): Promise<Window> => {
  const window = await browser.open(baseURL, look);
  const answer = await window.page.request.post('/api/v1/auth/login', { data: { email, password } });
  if (!answer.ok()) throw new Error(`${email} is not signed in: ${await answer.text()}`);
  await window.page.goto(path);
  return window;
};

/** Opens windows in which somebody of a role is signed in, an administrator unless told otherwise; makes the accounts. */
export const createSignedIn = (browser: () => TestBrowser, app: () => Pick<TestApp, 'send' | 'url'>) => {
  let given: ReturnType<typeof createGiven> | undefined;
  const emails = new Map<Role, Promise<string>>();

  const emailOf = (role: Role): Promise<string> => {
    given ??= createGiven(app());
    const { administrator, user } = given;
    const make = async () => (role === 'admin' ? (await administrator()).user : await user(role)).email;
    const email = emails.get(role) ?? make();
    emails.set(role, email);
    return email;
  };

  return async (path: string, look: Look = {}, role: Role = 'admin'): Promise<Window> =>
    openSignedIn(browser(), app().url, { email: await emailOf(role), path, look });
};
