import { spawn, spawnSync } from 'node:child_process';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import {
  type AuditEntry,
  DRILL_CHECKS,
  type EmergencyDrill,
  type EmergencyReset,
  type EmergencyStatus,
  type SecurityStatus,
} from '@sallyport/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bareEnvironment } from '../support/bare-environment.ts';
import { createApiCaller } from '../support/call-api.ts';
import { freePorts } from '../support/free-ports.ts';
import { createProduct, type Product } from '../support/product.ts';
import { until } from '../support/until.ts';

const HOST = 'walled.test';
const API_HOST = 'manage.test';
const TOKEN = 'f'.repeat(64);
const ATTACK = `/?id=${encodeURIComponent('1 union select password from users--')}`;
const cli = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));

/** Everything refuses them: the list of the host they would help themselves with, the firewall on the other one. */
describe('an operator who is locked out', () => {
  let product: Product;
  let origin: Server;
  let bearer: string;
  let emergency: string;

  const ask = (path = ATTACK, host = HOST, headers: Record<string, string> = {}, method = 'GET'): Promise<number> =>
    new Promise((resolve) => {
      const options = { host: '127.0.0.1', port: product.ports.http, method, path, headers: { host, ...headers } };
      request({ ...options, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
        .once('error', () => resolve(0))
        .end();
    });

  const { call } = createApiCaller(
    () => product.api,
    () => bearer,
  );

  const reset = async (headers: Record<string, string>): Promise<{ status: number; body: EmergencyReset }> => {
    const response = await fetch(`${emergency}/emergency/security-reset`, { method: 'POST', headers });
    return { status: response.status, body: (await response.json()) as EmergencyReset };
  };
  const basic = { authorization: `Basic ${Buffer.from('ops:secret word').toString('base64')}` };

  const isOff = async () => {
    const { guard, waf, acl } = await call<SecurityStatus>('GET', '/security/status');
    return !guard.enabled && !waf.enabled && !acl.enabled;
  };

  beforeAll(async () => {
    const [api = 0, http = 0, https = 0, tier2 = 0] = await freePorts(4);
    emergency = `http://127.0.0.1:${tier2}`;
    product = createProduct({ api, http, https }, undefined, {
      SALLYPORT_EMERGENCY_TOKEN: TOKEN,
      SALLYPORT_EMERGENCY_BIND: `127.0.0.1:${tier2}`,
      SALLYPORT_EMERGENCY_BASIC_AUTH: 'ops:secret word',
    });
    origin = createServer((_request, response) => response.end('fine'));
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    await product.start();
    const admin = { email: 'admin@example.com', password: 'correct horse battery' };
    bearer = (await call<{ token: string }>('POST', '/setup', admin)).token;
    const { port } = origin.address() as AddressInfo;
    const list = { name: 'nobody', type: 'deny', rules: [{ cidr: '0.0.0.0/0' }], enabled: true };
    const { id } = await call<{ id: number }>('POST', '/access-lists', list);
    // The filter of single hosts is no part of the suite: it stays.
    const fields = { forward_host: '127.0.0.1', block_exploits: false };
    await call('POST', '/proxy-hosts', { ...fields, domain: HOST, forward_port: port });
    await call('POST', '/proxy-hosts', {
      ...fields,
      domain: API_HOST,
      forward_port: api,
      forward_reserved: true,
      access_list_id: id,
    });
    await call('POST', '/security/config', { name: 'default', waf_mode: 'block', admin_whitelist: '192.0.2.1' });
  });

  beforeEach(async () => {
    for (const key of ['security.acl.enabled', 'security.waf.enabled', 'feature.guard.enabled']) {
      await call('POST', '/settings', { key, value: 'true' });
    }
    await until('the proxy refuses', async () => (await ask()) === 403, 60_000);
  });

  afterAll(async () => {
    await product.remove();
    origin.close();
  });

  /** `sallyport ARGUMENTS` in a directory and an environment that know nothing of the deployment. */
  const sallyport = async (...args: string[]): Promise<{ code: number | null; output: string }> => {
    const child = spawn(process.execPath, [cli, ...args], {
      cwd: tmpdir(),
      env: bareEnvironment,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const code = new Promise<number | null>((resolve) => child.once('close', resolve));
    return { output: await text(child.stdout), code: await code };
  };

  test('could have known by a drill that all three ways are open', async () => {
    const drill = () =>
      fetch(`${product.api}/emergency/drill`, { method: 'POST', headers: { authorization: `Bearer ${bearer}` } });
    const answer = (await (await drill()).json()) as EmergencyDrill;
    expect(answer).toEqual({
      ok: false,
      checks: DRILL_CHECKS.map((name) =>
        name === 'backup'
          ? { name, ok: false, message: expect.stringContaining('sallyport backup create') }
          : { name, ok: true, message: expect.any(String) },
      ),
      proven_at: null,
    });
    await call('POST', '/backups', {});
    expect((await drill()).status).toBe(429);
    const shell = await until(
      'another one may be made',
      async () => {
        const made = await sallyport('--data-dir', product.dataDir, 'emergency', 'drill');
        return made.output === '' ? undefined : made;
      },
      60_000,
    );
    expect(shell).toEqual({
      code: 0,
      output: expect.stringMatching(/^backup +ok .*\ncopies +ok .*\nproven at 2\S+\n$/m),
    });
    const { last_proven_at } = await call<EmergencyStatus>('GET', '/emergency/status');
    expect(shell.output).toContain(`proven at ${last_proven_at}\n`);
    // It has changed nothing.
    expect(await ask()).toBe(403);
    expect(await isOff()).toBe(false);
  });

  test('gets in through the proxy itself, though it refuses everything else of the same host', async () => {
    const path = '/api/v1/emergency/security-reset';
    expect(await ask('/api/v1/health', API_HOST)).toBe(403);
    expect(await ask(path, API_HOST, {}, 'GET')).toBe(403);
    expect(await ask(`${path}${ATTACK.slice(1)}`, HOST, { 'x-emergency-token': TOKEN }, 'POST')).toBe(403);
    expect(await ask(path, API_HOST, { 'x-emergency-token': 'wrong' }, 'POST')).toBe(401);
    expect(await ask()).toBe(403);
    expect(await ask(path, API_HOST, { 'x-emergency-token': TOKEN }, 'POST')).toBe(200);
    expect(await ask()).toBe(200);
    expect(await isOff()).toBe(true);
  });

  test('gets in by the second listener while the server stands still, and it is off when that goes on', async () => {
    const health = await fetch(`${emergency}/health`);
    expect(await health.json()).toEqual({ status: 'ok', server: 'emergency' });
    const pid = product.pids().server;
    process.kill(pid, 'SIGSTOP');
    try {
      expect((await reset({ 'x-emergency-token': TOKEN })).status).toBe(401);
      expect((await reset({ ...basic, 'x-emergency-token': 'wrong' })).status).toBe(401);
      expect(await ask()).toBe(403);
      const { status, body } = await reset({ ...basic, 'x-emergency-token': TOKEN });
      expect(status).toBe(200);
      expect(body).toMatchObject({ success: true, message: 'All security modules are switched off' });
      expect(await ask()).toBe(200);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await until('the server has seen it', isOff, 60_000);
    expect(await ask()).toBe(200);
    const trail = await call<AuditEntry[]>('GET', '/audit-logs');
    expect(trail.map(({ action }) => action)).toContain('emergency.refused');
    const report = spawnSync(process.execPath, [cli, '--data-dir', product.dataDir, 'audit', 'verify'], {
      encoding: 'utf8',
    });
    expect(report.status, report.stderr).toBe(0);
  });

  test('gets in while the store is locked; it is stored as soon as that ends', async () => {
    const holder = new DatabaseSync(join(product.dataDir, 'sallyport.db'));
    holder.exec('begin immediate');
    try {
      const { status, body } = await reset({ ...basic, 'x-emergency-token': TOKEN });
      expect(status).toBe(200);
      expect(body).toMatchObject({ success: true, message: expect.stringContaining('tried again every second') });
      expect(await ask()).toBe(200);
    } finally {
      holder.exec('rollback');
      holder.close();
    }
    await until('it is stored', isOff, 60_000);
    expect(await ask()).toBe(200);
  });

  test('gets in from a shell on the machine', async () => {
    const { code, output } = await sallyport('--data-dir', product.dataDir, 'emergency', 'reset');
    expect(code, output).toBe(0);
    expect(output).toContain('feature.guard.enabled = false');
    await until('the proxy lets through', async () => (await ask()) === 200, 60_000);
    expect(await isOff()).toBe(true);
  });
});
