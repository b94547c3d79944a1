import type { AuditEntry, SetupState, SignedIn } from '@sallyport/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bearer, fromOutside, PASSWORD } from '../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

onBothDatabases('setting up', (kind) => {
  let app: TestApp;
  let announced: string[];

  beforeEach(async () => {
    announced = [];
    app = await startApp(kind, {}, { announceSetupToken: (token) => announced.push(token) });
  });
  afterEach(() => app.stop());

  const body = { email: 'Admin@Example.com', password: PASSWORD, name: ' First ' };
  const setUp = (more: object = {}, headers: Record<string, string> = {}) =>
    app.send<SignedIn & { error: string }>('POST', '/setup', { ...body, ...more }, headers);
  const state = async () => (await app.send<SetupState>('GET', '/setup')).body;

  test('makes the first administrator once, signed in', async () => {
    expect(await state()).toEqual({ setup_required: true });
    const answer = await setUp();
    expect(answer).toMatchObject({
      status: 201,
      body: { user: { email: 'admin@example.com', name: 'First', role: 'admin', status: 'active' } },
    });
    expect(answer.headers.get('set-cookie')).toContain('HttpOnly');
    expect((await app.send('GET', '/users', undefined, bearer(answer.body.token))).status).toBe(200);
    expect(await state()).toEqual({ setup_required: false });
    expect((await setUp({ email: 'second@example.com' })).status).toBe(403);
    announced = [];
    await app.restart();
    expect(announced).toEqual([]);
  });

  test('lets only one of many win', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => setUp({ email: `admin-${n}@example.com` })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(403)]);
  });

  test('asks callers from other hosts for the token that start-up showed', async () => {
    expect(announced).toHaveLength(1);
    const outside = fromOutside();
    expect((await setUp({}, outside)).status).toBe(401);
    expect((await setUp({ setup_token: 'x' }, outside)).status).toBe(401);
    expect((await setUp({ setup_token: `${announced[0]}0` }, outside)).status).toBe(401);
    expect((await setUp({ setup_token: announced[0] }, outside)).status).toBe(201);
  });

  test('can’t be tried until the token is guessed', async () => {
    for (let n = 0; n < 5; n += 1) expect((await setUp({ setup_token: `${n}` }, fromOutside())).status).toBe(401);
    expect((await setUp({ setup_token: announced[0] }, fromOutside())).status).toBe(429);
    const { body: first } = await setUp();
    const { body: entries } = await app.send<AuditEntry[]>('GET', '/audit-logs', undefined, bearer(first.token));
    expect(entries.map(({ action }) => action)).toEqual([
      'auth.setup',
      'auth.throttled',
      ...Array(5).fill('auth.setup_refused'),
    ]);
  });

  test.each([
    [{ email: undefined }, 'email is required'],
    [{ email: 'nobody' }, 'email must be a valid e-mail address'],
    [{ email: 'a@b@c.example' }, 'email must be a valid e-mail address'],
    [{ email: 'a\r\nBcc: x@example.com' }, 'email must be a valid e-mail address'],
    [{ password: 'nine char' }, 'password must be at least 10 characters long'],
    // Ten UTF-16 units, five characters.
    [{ password: '😀😀😀😀😀' }, 'password must be at least 10 characters long'],
    [{ password: 'admin@example.com' }, 'password must not be the e-mail address'],
    [{ password: 1234567890 }, 'password must be a string'],
  ])('refuses %j', async (more, error) => {
    expect(await setUp(more)).toMatchObject({ status: 400, body: { error } });
    expect(await state()).toEqual({ setup_required: true });
  });
});
