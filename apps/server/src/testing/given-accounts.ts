import type { CreatedApiToken, Role, SignedIn, User } from '@sallyport/contract';
import type { TestApp } from './start-app.ts';

export const PASSWORD = 'correct horse battery';

/** Somebody who can call the API. */
export interface Caller {
  user: User;
  token: string;
  /** Headers that carry the token. */
  headers: Record<string, string>;
}

/** Headers that make a request one that came through a proxy, so that it is not local: `startApp` trusts those of this machine. */
export const fromOutside = (ip = '198.51.100.7'): Record<string, string> => ({ 'x-forwarded-for': ip });

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

const expectStatus = <T>(answer: { status: number; body: T }, status: number): T => {
  if (answer.status !== status) throw new Error(`expected ${status}: ${JSON.stringify(answer)}`);
  return answer.body;
};

/** Builds accounts through the API alone. */
export const createGiven = (app: Pick<TestApp, 'send'>) => {
  let count = 0;
  let first: Promise<Caller> | undefined;

  const signIn = async (email: string, password = PASSWORD): Promise<Caller> => {
    const answer = await app.send<SignedIn>('POST', '/auth/login', { email, password });
    const { token, user } = expectStatus(answer, 200);
    return { user, token, headers: bearer(token) };
  };

  const setUp = async (): Promise<Caller> => {
    const answer = await app.send<SignedIn>('POST', '/setup', { email: 'admin@example.com', password: PASSWORD });
    const { token, user } = expectStatus(answer, 201);
    return { user, token, headers: bearer(token) };
  };

  /** The administrator that setup makes; the same one each time. */
  const administrator = (): Promise<Caller> => {
    first ??= setUp();
    return first;
  };

  const user = async (role: Role = 'user'): Promise<User> => {
    const { headers } = await administrator();
    count += 1;
    const fields = { email: `person-${count}@example.com`, name: `Person ${count}`, password: PASSWORD, role };
    return expectStatus(await app.send<User>('POST', '/users', fields, headers), 201);
  };

  const caller = async (role: Role = 'user'): Promise<Caller> => signIn((await user(role)).email);

  const apiToken = async (owner: Caller, role: Role, more: object = {}): Promise<CreatedApiToken> =>
    expectStatus(await app.send<CreatedApiToken>('POST', '/tokens', { name: role, role, ...more }, owner.headers), 201);

  return { administrator, user, caller, signIn, apiToken };
};
