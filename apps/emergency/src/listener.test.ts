import { once } from 'node:events';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cidrSet } from '@sallyport/deployment/cidr';
import { parseConfig } from '@sallyport/deployment/config';
import { createDoor } from '@sallyport/recovery/door';
import { openProxy } from '@sallyport/recovery/open-proxy';
import { openPendingNote } from '@sallyport/recovery/pending';
import { createReset } from '@sallyport/recovery/reset';
import { systemActor } from '@sallyport/store/actor';
import { migrate } from '@sallyport/store/database/migrate';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { keyFile } from '@sallyport/store/secrets/key-file';
import { SWITCH_KEYS } from '@sallyport/store/security-switches';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createListener } from './listener.ts';
import { createPlaces } from './places.ts';
import { createEmergencyStore } from './store.ts';

const TOKEN = 'e'.repeat(64);
const log = pino({ level: 'silent' });
const OFF = Object.values(SWITCH_KEYS)
  .sort()
  .map((key) => ({ key, value: 'false' }));

describe('the emergency server', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-emergency-'));
  const config = parseConfig({ SALLYPORT_DATA_DIR: dataDir }, '/');
  const store = createEmergencyStore(config, log);
  const isManagement = cidrSet(config.managementCidrs);
  let proxyFails = false;
  let database: Database;
  let reset: ReturnType<typeof createReset>;
  let listener: ReturnType<typeof createListener>;
  let port: number;

  beforeAll(async () => {
    database = openDatabase(config);
    await migrate(database);
    reset = createReset({
      openProxy: () => (proxyFails ? Promise.reject(new Error('out of memory')) : openProxy(dataDir)),
      switchOff: store.switchOff,
      note: openPendingNote(dataDir, 'emergency'),
      log,
    });
    const door = createDoor({ token: TOKEN, managementCidrs: config.managementCidrs });
    const enter = createPlaces({ isManagement, most: { all: 8, perClient: 2, strangers: 2 } });
    listener = createListener({ door, reset, note: store.note, enter, log });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    ({ port } = listener.address() as AddressInfo);
  });
  afterAll(async () => {
    await reset.stop();
    listener.closeAllConnections();
    listener.close();
    await database.stop();
    rmSync(dataDir, { recursive: true });
  });
  beforeEach(async () => {
    await database.kysely.deleteFrom('settings').where('key', 'in', Object.values(SWITCH_KEYS)).execute();
  });

  const ask = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) };
  };
  const stored = () =>
    database.kysely
      .selectFrom('settings')
      .select(['key', 'value'])
      .where('key', 'in', Object.values(SWITCH_KEYS))
      .orderBy('key')
      .execute();
  const newest = (action: string) =>
    database.kysely
      .selectFrom('audit_logs')
      .selectAll()
      .where('action', '=', action)
      .orderBy('id', 'desc')
      .executeTakeFirst();

  test.each(['/emergency/security-reset', '/api/v1/emergency/security-reset?now=1'])(
    'switches everything off by POST %s, and that is written down with who asked',
    async (path) => {
      const answer = await ask('POST', path, { 'x-emergency-token': TOKEN, 'user-agent': 'curl/8' });
      expect(answer).toMatchObject({ status: 200, body: { success: true } });
      // No HAProxy runs here.
      expect(answer.body.message).toContain('starts open');
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        connection: 'close',
      });
      expect(await stored()).toEqual(OFF);
      expect(await newest('emergency.reset')).toMatchObject({
        resource: 'emergency',
        ip: '127.0.0.1',
        user_agent: 'curl/8',
        method: 'POST',
        path: path.split('?')[0],
      });
    },
  );

  test('refuses who has no token, or a wrong one, and writes down why', async () => {
    expect(await ask('POST', '/emergency/security-reset')).toMatchObject({ status: 401 });
    const wrong = { 'x-emergency-token': `${TOKEN}x` };
    expect(await ask('POST', '/emergency/security-reset', wrong)).toMatchObject({ status: 401 });
    await expect
      .poll(async () => JSON.parse((await newest('emergency.refused'))?.details ?? '{}'))
      .toMatchObject({ after: { reason: 'wrong token', server: 'emergency' } });
    expect(await stored()).toEqual([]);
  });

  test('tells that it is there, and nothing else', async () => {
    expect(await ask('GET', '/health?x')).toMatchObject({ status: 200, body: { status: 'ok', server: 'emergency' } });
    expect(await ask('HEAD', '/health')).toMatchObject({ status: 200, body: undefined });
    const other = await ask('POST', '/health');
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const get = await ask('GET', '/emergency/security-reset', { 'x-emergency-token': TOKEN });
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await ask('POST', '/api/v1/settings', { 'x-emergency-token': TOKEN })).toMatchObject({ status: 404 });
    expect(await stored()).toEqual([]);
  });

  test('answers when something of it fails, and goes on', async () => {
    proxyFails = true;
    const failed = await ask('POST', '/emergency/security-reset', { 'x-emergency-token': TOKEN });
    expect(failed).toMatchObject({ status: 500, body: { error: 'Internal error' } });
    proxyFails = false;
    expect(await ask('GET', '/health')).toMatchObject({ status: 200 });
  });

  test('hangs up on who has all places of one client, and takes the next when one is free', async () => {
    const held = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    await Promise.all(held.map((socket) => once(socket, 'connect')));
    const more = connect(port, '127.0.0.1');
    await once(more, 'close');
    held[0]?.destroy();
    await expect
      .poll(() =>
        ask('GET', '/health')
          .then(({ status }) => status)
          .catch(() => 0),
      )
      .toBe(200);
    held[1]?.destroy();
  });

  test('switches off though the key of the audit trail is lost; an event that can not be written down is refused', async () => {
    const { path } = keyFile(dataDir);
    renameSync(path, `${path}.away`);
    try {
      await store.switchOff(systemActor('test'));
      expect(await stored()).toEqual(OFF);
      const entry = { action: 'emergency.refused', actor: systemActor('test'), resource: 'emergency' };
      await expect(store.note(entry)).rejects.toThrow('is missing');
    } finally {
      renameSync(`${path}.away`, path);
    }
  });

  test('switches off with another key than the trail was written with, and writes nothing to it', async () => {
    const stranger = createEmergencyStore({ ...config, encryptionKey: 'another key of at least 32 characters' }, log);
    const before = await database.kysely.selectFrom('audit_logs').select('id').execute();
    expect(before.length).toBeGreaterThan(0);
    await stranger.switchOff(systemActor('test'));
    expect(await stored()).toEqual(OFF);
    const entry = { action: 'emergency.refused', actor: systemActor('test'), resource: 'emergency' };
    await expect(stranger.note(entry)).rejects.toThrow('but the key in use is');
    expect(await database.kysely.selectFrom('audit_logs').select('id').execute()).toEqual(before);
  });

  test('makes no empty store where there is none', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'sallyport-emergency-'));
    const nowhere = createEmergencyStore(parseConfig({ SALLYPORT_DATA_DIR: empty }, '/'), log);
    await expect(nowhere.switchOff(systemActor('test'))).rejects.toThrow('holds no store');
    expect(existsSync(join(empty, 'sallyport.db'))).toBe(false);
    rmSync(empty, { recursive: true });
  });
});
