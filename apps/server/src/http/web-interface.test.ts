import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../testing/start-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp('sqlite');
});
afterAll(() => app.stop());

const get = (path: string, headers: Record<string, string> = { accept: 'text/html' }) =>
  fetch(`${app.url}${path}`, { headers });

test('every address of a view is the page, with a policy that lets in nothing but its own files', async () => {
  const nonces = new Set<string>();
  for (const path of ['/', '/hosts', '/hosts/1?a=b', '/accept-invite?token=x']) {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain('unsafe');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const [, nonce = ''] = /'nonce-([^']+)'/.exec(policy) ?? [];
    expect(await answer.text()).toContain(`content="${nonce}"`);
    nonces.add(nonce);
  }
  expect(nonces.size).toBe(4);
});

test('files of the page are kept by browsers for good, and nothing else is given out', async () => {
  const [, script = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(await (await get('/')).text()) ?? [];
  const file = await get(script);
  expect(file.status).toBe(200);
  expect(file.headers.get('content-type')).toContain('javascript');
  expect(file.headers.get('cache-control')).toContain('immutable');
  for (const path of ['/assets/', '/assets/none.js', '/assets/..%2findex.html']) {
    expect((await get(path)).status, path).toBe(404);
  }
});

test('programs get the answers of the API: no page where they have no route', async () => {
  for (const [path, headers] of [
    ['/hosts', { accept: '*/*' }],
    ['/hosts', {}],
    ['/api/v1/none', { accept: 'text/html' }],
    ['/api/none', { accept: 'text/html' }],
    ['/metrics/none', { accept: 'text/html' }],
  ] as const) {
    const answer = await get(path, headers);
    expect(answer.status, path).toBe(404);
    expect(await answer.json()).toMatchObject({ error: 'Not found', code: 404 });
  }
  const posted = await fetch(`${app.url}/hosts`, { method: 'POST', headers: { accept: 'text/html' } });
  expect(posted.status).toBe(404);
});
