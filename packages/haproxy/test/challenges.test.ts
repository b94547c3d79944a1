import { rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenHost } from '../../../test/support/haproxy/given.ts';
import { type Echo, type Origin, startEchoOrigin } from '../../../test/support/haproxy/origins.ts';
import { type RunningDataPlane, startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';
import { ask, exchange } from '../../../test/support/http-client.ts';
import { until } from '../../../test/support/until.ts';
import { mapFileChunks } from '../src/files/map-file.ts';
import {
  challengeEntry,
  createMapCommands,
  dataPlaneFiles,
  everybodyCleared,
  limitKey,
  writeStaticFiles,
} from '../src/index.ts';
import { createAdminSocket } from '../src/runtime/admin-socket.ts';

const token = 'evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr_oA';
const keyAuthorization = `${token}.9jg46WB3rR_AHD-EBXdN7cBkH1WOu0tA3M9fm21mqTI`;
const path = `/.well-known/acme-challenge/${token}`;

describe('challenges of certificate authorities', () => {
  let plane: RunningDataPlane;
  let origin: Origin;
  beforeAll(async () => {
    [plane, origin] = await Promise.all([startDataPlane({ rateLimit: { windowSec: 60 } }), startEchoOrigin('echo')]);
    const guarded = { access_list: true, firewall: true };
    await plane.serve(
      givenHost({ names: ['plain.test', '*.plain.test'], origin }),
      givenHost({ names: ['lenient.test'], origin }, { block_exploits: false }),
      givenHost({ names: ['lenient-tls.test'], origin }, { block_exploits: false, ssl_forced: true }),
      givenHost({ names: ['bare.test'], origin }, { block_exploits: false, enable_standard_headers: false }),
      givenHost({ names: ['tls-only.test'], origin }, { ssl_forced: true }),
      givenHost({ names: ['guarded.test'], origin }, guarded),
      givenHost({ names: ['forced.test'], origin }, { ssl_forced: true, hsts_enabled: true, ...guarded }),
      givenHost({ names: ['off.test'], origin }, { enabled: false }),
      givenHost({ names: ['tls.test'], origin: { ...origin, scheme: 'https' } }),
    );
    await map(dataPlaneFiles.challengesMap).add(...challengeEntry({ token, keyAuthorization }));
  });
  afterAll(async () => {
    await origin.stop();
    await plane.stop();
  });

  const map = (file: string) => createMapCommands(createAdminSocket({ path: plane.settings.adminSocket }), file);
  const ordinary = ['plain.test', 'a.plain.test', 'lenient.test', 'bare.test', 'lenient-tls.test', 'tls-only.test'];
  const others = ['forced.test', 'guarded.test', 'off.test', 'tls.test', 'unknown.test'];
  const addresses = ['127.0.0.1', '[2001:db8::1]:80'];

  const answer = async (host: string, parts: Partial<Parameters<typeof ask>[0]> = {}) => {
    const { status, headers, body } = await ask({ port: plane.httpPort, host, path, ...parts });
    return { status, body, type: headers['content-type'], cached: headers['cache-control'] };
  };
  const theAnswer = { status: 200, body: keyAuthorization, type: 'application/octet-stream', cached: 'no-store' };

  test.each([...ordinary, ...others, ...addresses])('are answered under %s, over HTTP and HTTPS', async (host) => {
    expect(await answer(host)).toEqual(theAnswer);
    expect(await answer(host, { path: `${path}?cache=off` })).toEqual(theAnswer);
    expect(await answer(host, { headers: { Accept: 'application/json', Upgrade: 'websocket' } })).toEqual(theAnswer);
    if (/[a-z]\./.test(host)) expect(await answer(host, { port: plane.httpsPort, tls: true })).toEqual(theAnswer);
  });

  test('HEAD is answered alike, without the body; other methods and other paths go on to the host', async () => {
    const head = await ask({ port: plane.httpPort, host: 'plain.test', path, method: 'HEAD' });
    expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-length': `${keyAuthorization.length}` } });
    const echoed = async (parts: Partial<Parameters<typeof ask>[0]>) =>
      (await ask({ port: plane.httpPort, host: 'plain.test', path, ...parts })).json<Echo>();
    for (const method of ['POST', 'OPTIONS', 'DELETE'])
      expect(await echoed({ method })).toMatchObject({ method, url: path });
    const paths = [
      path.slice(0, -1),
      `${path}/`,
      `${path}x`,
      path.toLowerCase(),
      '/.well-known/acme-challenge/',
      `/x${path}`,
      path.replace('e', '%65'),
    ];
    for (const other of paths) expect(await echoed({ path: other })).toMatchObject({ method: 'GET', url: other });
    expect((await ask({ port: plane.httpPort, host: 'off.test', path: `${path}x` })).status).toBe(404);
    expect((await ask({ port: plane.httpPort, host: 'unknown.test', path: `${path}x` })).status).toBe(404);
  });

  test('are answered in absolute form and over HTTP/2; without one host they are refused as ever', async () => {
    const target = `GET http://unknown.test${path} HTTP/1.1\r\nHost: unknown.test\r\nConnection: close\r\n\r\n`;
    expect(await exchange(plane.httpPort, target)).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\n[\w-]+\.[\w-]+$/s);
    const twice = `GET ${path} HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\nConnection: close\r\n\r\n`;
    expect(await exchange(plane.httpPort, twice)).toMatch(/^HTTP\/1\.1 400 /);

    const session = connect(`https://127.0.0.1:${plane.httpsPort}`, { rejectUnauthorized: false });
    const stream = session.request({ ':path': path, ':authority': 'unknown.test' });
    let body = '';
    for await (const chunk of stream.setEncoding('utf8')) body += chunk as string;
    expect(body).toBe(keyAuthorization);
    await new Promise<void>((resolve) => session.close(resolve));
  });

  test('bans, limits and maps that are not known stop nobody who asks for an answer, and it does not count', async () => {
    const bans = map(dataPlaneFiles.bansMap);
    const limits = map(dataPlaneFiles.limitsMap);
    const plain = async () => (await ask({ port: plane.httpPort, host: 'plain.test' })).status;
    await bans.add('127.0.0.0/8', 'manual/x');
    expect([await plain(), (await answer('plain.test')).status]).toEqual([403, 200]);
    await bans.remove('127.0.0.0/8');
    for (const [network] of everybodyCleared) await bans.remove(network);
    expect([await plain(), (await answer('plain.test')).status]).toEqual([503, 200]);
    for (const [network, cleared] of everybodyCleared) await bans.add(network, cleared);
    await limits.set(limitKey, '2');
    for (let count = 0; count < 5; count++) expect(await answer('plain.test')).toEqual(theAnswer);
    expect([await plain(), await plain(), await plain()]).toEqual([200, 200, 429]);
    expect(await answer('plain.test')).toEqual(theAnswer);
    await limits.set(limitKey, '0');
  });

  test('the log tells of each that it was one, and of nothing else so', async () => {
    const told = () =>
      plane.haproxy
        .output()
        .split('\n')
        .slice(0, -1)
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    await answer('told.test', { headers: { 'User-Agent': 'Authority "1"' } });
    await ask({ port: plane.httpPort, host: 'refused.test', path: '/.env' });
    const challenge = await until('the line of the challenge', () => told().find(({ host }) => host === 'told.test'));
    expect(challenge).toMatchObject({
      status: 200,
      answered: 'acme-challenge',
      refused: '-',
      client: '127.0.0.1',
      method: 'GET',
      uri: path,
      user_agent: 'Authority "1"',
    });
    const other = await until('the line of the refusal', () => told().find(({ host }) => host === 'refused.test'));
    expect(other).toMatchObject({ status: 404, answered: '-' });
  });

  test('what HAProxy starts with answers; a map that was lost is made empty, and answers nobody', async () => {
    const file = join(plane.directory, dataPlaneFiles.challengesMap);
    const restart = async () => {
      await plane.haproxy.stop();
      await plane.restartHaproxy();
    };
    await writeFile(file, [...mapFileChunks(['Answers'], [challengeEntry({ token, keyAuthorization })])].join(''));
    await restart();
    expect(await answer('off.test')).toEqual(theAnswer);
    await rm(file);
    await writeStaticFiles(plane.directory, plane.settings);
    await restart();
    expect((await answer('off.test')).status).toBe(404);
    expect((await answer('plain.test')).type).toBe('application/json');
  });
});

test.each([
  ['', 'x'],
  ['a b', 'a b.x'],
  ['a/../b', 'a/../b.x'],
  ['a%0d', 'a%0d.x'],
  ['ä', 'ä.x'],
  ['a\nb', 'a\nb.x'],
  ['a'.repeat(129), `${'a'.repeat(129)}.x`],
  ['a', 'b.x'],
  ['a', 'a'],
  ['a', 'a.'],
  ['a', 'a.x\n/ y'],
  ['a', 'a.<script>'],
  ['a', 'a.x y'],
  ['a', 'a.x.y'],
  ['a', `a.${'x'.repeat(129)}`],
])('%j with %j is no line of the map', (badToken, badAuthorization) => {
  expect(() => challengeEntry({ token: badToken, keyAuthorization: badAuthorization })).toThrow('not an answer');
});
