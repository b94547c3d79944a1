import { PASSWORD } from '@sallyport/server/testing/given-accounts';
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
