import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify from 'fastify';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startApp, type TestApp } from '../testing/start-app.ts';
import { registerErrorMapping } from './error-mapping.ts';
import { createWebInterface } from './web-interface.ts';

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
  const file = await get(script, { 'accept-encoding': 'identity' });
  expect(file.status).toBe(200);
  expect(file.headers.get('content-type')).toContain('javascript');
  expect(file.headers.get('cache-control')).toContain('immutable');
  const whole = await file.text();
  for (const encoding of ['gzip', 'br']) {
    const packed = await get(script, { 'accept-encoding': encoding });
    expect(packed.headers.get('content-encoding')).toBe(encoding);
    expect(packed.headers.get('content-type')).toContain('javascript');
    expect(packed.headers.get('vary')).toContain('accept-encoding');
    expect(await packed.text()).toBe(whole);
  }
  for (const path of ['/assets/', '/assets/none.js', '/assets/..%2findex.html', '/assets/a%00.js', '/assets/..%5cx']) {
    const refused = await get(path);
    expect([403, 404], path).toContain(refused.status);
    expect(await refused.json(), path).toMatchObject({ code: refused.status });
    expect(refused.headers.get('cache-control') ?? '', path).not.toContain('immutable');
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

test('a build that comes, and takes the place of another, is served without a start', async () => {
  const dist = join(mkdtempSync(join(tmpdir(), 'sallyport-web-')), 'dist');
  const server = fastify({ pluginTimeout: 0 });
  onTestFinished(async () => {
    await server.close();
    rmSync(join(dist, '..'), { recursive: true });
  });
  const { register, answerPage } = createWebInterface(dist);
  registerErrorMapping(server as never, { answerPage });
  await register(server as never);
  const ask = async (url: string) => {
    const { statusCode, body } = await server.inject({ url, headers: { accept: 'text/html' } });
    return [statusCode, body] as const;
  };
  expect(await ask('/hosts')).toEqual([503, expect.stringContaining('bin/up')]);
  expect(await ask('/assets/a.js')).toEqual([404, expect.stringContaining('Not found')]);

  const build = (name: string) => {
    mkdirSync(join(dist, 'assets'), { recursive: true });
    writeFileSync(join(dist, 'index.html'), name);
    writeFileSync(join(dist, 'assets', `${name}.js`), name);
  };
  build('a');
  expect(await Promise.all([ask('/hosts'), ask('/assets/a.js')])).toEqual([
    [200, 'a'],
    [200, 'a'],
  ]);
  rmSync(join(dist, 'index.html'));
  expect(await ask('/hosts')).toEqual([200, 'a']);
  renameSync(join(dist, 'assets'), join(dist, 'before'));
  build('b');
  expect(await Promise.all(['/', '/hosts', '/assets/b.js', '/assets/a.js'].map(ask))).toEqual([
    [200, 'b'],
    [200, 'b'],
    [200, 'b'],
    [200, 'a'],
  ]);
});
