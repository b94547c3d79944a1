import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditEntry, ConsoleEnrolment, Decision, ErrorBody } from '@sallyport/contract';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../../../../../test/support/free-ports.ts';
import { until } from '../../../../../../../test/support/until.ts';
import { startCentral, TOKEN } from '../../../../testing/central-api.ts';
import { crowdsecStatus, isReading, MISSING, missed, runCrowdsec, WITHIN_MS } from '../../../../testing/crowdsec.ts';
import { createGiven } from '../../../../testing/given-accounts.ts';
import { startApp, type TestApp } from '../../../../testing/start-app.ts';
import { crowdsecAccount } from '../account.ts';
import { DEBIAN } from '../program.ts';

/** The real CrowdSec, and a central API of our own. */

const PATH = '/admin/crowdsec/console';

const central = async (listed?: object[]) => {
  const started = await startCentral(listed);
  onTestFinished(started.stop);
  return started;
};

const given = async (url: string, isInstalled = true) => {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  const env = { SALLYPORT_CROWDSEC_PORT: String(await freePort()), SALLYPORT_CROWDSEC_CONSOLE: url };
  const app: TestApp = await startApp('sqlite', env, isInstalled ? { crowdsec: DEBIAN, log } : { log });
  onTestFinished(() => app.stop());
  const accounts = createGiven(app);
  const { headers } = await accounts.administrator();
  return {
    app,
    accounts,
    headers,
    lines,
    state: async () => (await app.send<ConsoleEnrolment>('GET', PATH, undefined, headers)).body,
    enrol: (body: object) => app.send<ConsoleEnrolment & ErrorBody>('POST', PATH, body, headers),
    remove: () => app.send('DELETE', PATH, undefined, headers),
    audit: async (): Promise<AuditEntry[]> =>
      (await app.send<AuditEntry[]>('GET', '/audit-logs', undefined, headers)).body,
  };
};

test('CrowdSec signs in at the console once it is enrolled, and not any more once that ended', {
  timeout: 240_000,
}, async () => {
  const { url, asked } = await central();
  const { app, headers, state, enrol, remove, audit, lines } = await given(url);
  const file = join(app.dataDir, 'crowdsec/console/credentials.yaml');
  const signIns = () =>
    asked.filter(({ path, agent }) => path === '/v2/watchers/login' && agent.startsWith('crowdsec/'));
  const { pid } = await runCrowdsec(app);
  expect(await state()).toMatchObject({ state: 'none', name: null, sends: null });
  expect(existsSync(file)).toBe(false);

  const enrolled = await enrol({ token: TOKEN, name: 'edge 1', tags: ['paris'] });
  expect(enrolled.status, JSON.stringify(enrolled.body)).toBe(200);
  expect(enrolled.body).toMatchObject({
    state: 'waiting_for_acceptance',
    name: 'edge 1',
    tags: ['paris'],
    issue: null,
  });
  expect(enrolled.body.sends).toContain(`sends to ${url}: address, scenario and time of every alert`);
  expect(await state()).toEqual(enrolled.body);
  const [register, login, enroll] = asked;
  expect(register).toMatchObject({ path: '/v2/watchers', body: { machine_id: expect.stringMatching(/^\w{48}$/) } });
  expect(login?.body).toMatchObject({ ...register?.body });
  expect(enroll).toMatchObject({
    path: '/v2/watchers/enroll',
    authorization: 'Bearer header.claims.signature',
    body: { attachment_key: TOKEN, name: 'edge 1', tags: ['paris'], overwrite: false },
  });
  await until('CrowdSec itself signs in', async () => signIns().length > 0, WITHIN_MS);
  expect(signIns()[0]?.body).toMatchObject({ ...register?.body });
  const after = await isReading(app);
  expect(after).toMatchObject({ status: 'running', lapi_ready: true, issue: null });
  expect(after.pid).not.toBe(pid);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await enrol({ token: TOKEN })).status).toBe(409);

  // What is promised to be sent is sent: bans of its own, and those made by hand.
  await app.send('POST', '/security/decisions', { ip: '203.0.113.8', action: 'block', details: 'by hand' });
  appendFileSync(join(app.dataDir, 'crowdsec/log/access.log'), missed('203.0.113.7', MISSING));
  const sent = () => JSON.stringify(asked.filter(({ path }) => path === '/v2/signals').map(({ text }) => text));
  await until('both are sent', async () => sent().includes('203.0.113.7') && sent().includes('203.0.113.8'), WITHIN_MS);

  // The machine's password is in the file and nowhere else to be read; the token is nowhere.
  const password = String(register?.body.password);
  expect(readFileSync(file, 'utf8')).toContain(password);
  const stored = execFileSync('grep', ['-rlaE', `${TOKEN}|${password}`, app.dataDir], { encoding: 'utf8' });
  expect(stored.trim().split('\n')).toEqual([file]);
  const trail = await audit();
  expect(trail.map(({ action }) => action)).toContain('crowdsec.enrol');
  expect(`${JSON.stringify(trail)}${lines.join('')}`).not.toMatch(new RegExp(`${TOKEN}|${password}`));

  const stale = await app.send('DELETE', PATH, undefined, { ...headers, 'if-match': '"another"' });
  expect(stale.status).toBe(412);
  expect((await remove()).status).toBe(204);
  expect(existsSync(file)).toBe(false);
  expect(await state()).toMatchObject({ state: 'none', sends: null });
  const { pid: last } = await isReading(app);
  expect(last).not.toBe(after.pid);
  expect(readFileSync(join(app.dataDir, 'crowdsec/etc/config.yaml'), 'utf8')).not.toContain('online_client:');
  const before = asked.length;
  expect((await remove()).status).toBe(204);
  await app.send('POST', '/admin/crowdsec/stop');
  await runCrowdsec(app);
  expect(asked).toHaveLength(before);
  expect((await audit()).filter(({ action }) => action === 'crowdsec.end_enrolment')).toHaveLength(1);
});

test('nothing is stored when the console refuses or can not be asked, and only administrators enrol', async () => {
  const { url, asked } = await central();
  const { app, accounts, state, enrol, audit, lines } = await given(url);
  const { headers } = await accounts.caller('user');
  for (const method of ['GET', 'POST', 'DELETE']) {
    const body = method === 'POST' ? { token: TOKEN } : undefined;
    expect((await app.send(method, PATH, body, headers)).status).toBe(403);
    expect((await app.send(method, PATH, body)).status).toBe(403);
  }
  for (const body of [{}, { token: '' }, { token: 'a b' }, { token: TOKEN, name: '' }, { token: TOKEN, tags: [''] }]) {
    expect((await enrol(body)).status).toBe(400);
  }
  expect(asked).toEqual([]);
  const refused = await enrol({ token: 'somebodys-secret' });
  expect(refused.status).toBe(422);
  expect(refused.body.error).toBe('The console refuses the token: it answers 403: the attachment key … is not valid');
  expect(await state()).toMatchObject({ state: 'failed', issue: refused.body.error, enrolled_at: null });
  expect((await audit()).filter(({ resource }) => resource.includes('console'))).toEqual([]);
  expect(lines.join('')).not.toContain('somebodys-secret');

  const away = await given(`http://127.0.0.1:${await freePort()}`);
  const unreachable = await away.enrol({ token: TOKEN });
  expect(unreachable.status).toBe(503);
  expect(unreachable.body.error).toMatch(/^The console at http:\/\/127\.0\.0\.1:\d+ can not be asked: /);
  expect(await away.state()).toMatchObject({ state: 'failed', enrolled_at: null });

  const absent = await given(url, false);
  const uninstalled = await absent.enrol({ token: TOKEN });
  expect(uninstalled.status).toBe(503);
  expect(uninstalled.body.error).toContain('bin/up --with=crowdsec');
});

test('whom others have banned is banned here as long as it is enrolled, however many they are', {
  timeout: 240_000,
}, async () => {
  const MANY = 20_000;
  const ban = (value: string, origin: string, scenario: string) => ({
    ...{ value, origin, scenario, duration: '160h', type: 'ban', scope: value.includes('/') ? 'Range' : 'Ip' },
  });
  const listed = [
    ban('2001:db8:7::/48', 'CAPI', 'crowdsecurity/ssh-bf'),
    ban('198.51.100.77', 'lists', 'some-list'),
    ...Array.from({ length: MANY }, (_, n) =>
      ban(`198.${18 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`, 'CAPI', 'crowdsecurity/http-probing'),
    ),
  ];
  const others = await central(listed);
  const { app, headers, enrol, remove } = await given(others.url);
  await enrol({ token: TOKEN });
  await runCrowdsec(app);
  const status = () => crowdsecStatus(app);
  await until('all are known', async () => (await status()).decisions === listed.length, WITHIN_MS);
  expect(await status()).toMatchObject({ decisions_of_others: listed.length, issue: null });
  const found = async (search: string): Promise<string[]> => {
    const path = `/security/decisions?source=crowdsec&per_page=5&search=${search}`;
    const { body } = await app.send<{ decisions: Decision[] }>('GET', path, undefined, headers);
    return body.decisions.map(({ ip, details }) => `${ip}: ${details}`);
  };
  expect(await found('2001:db8:7::')).toEqual(['2001:db8:7::/48: crowdsecurity/ssh-bf (CAPI)']);
  expect(await found('198.51.100.77')).toEqual(['198.51.100.77: some-list (lists)']);

  // A new database reads the list anew: until it has, what is known stays, and nobody is told that it was seen here.
  others.listed = undefined;
  const { pid } = await status();
  const { at: state } = crowdsecAccount(join(app.dataDir, 'crowdsec')).state;
  for (const end of ['', '-wal', '-shm']) rmSync(join(state, `crowdsec.db${end}`), { force: true });
  await until('another one runs', async () => ![null, pid].includes((await status()).pid), WITHIN_MS);
  await isReading(app);
  const { last_sync: first } = await status();
  await until('it is asked', async () => ((await status()).last_sync ?? '') > (first ?? ''), WITHIN_MS);
  expect(await status()).toMatchObject({ decisions: listed.length, decisions_of_others: listed.length });
  expect(others.asked.filter(({ path, text }) => path === '/v2/signals' && text.includes('198.18.'))).toEqual([]);
  others.listed = listed;

  // One of its own is not one of others, and stays when those go.
  appendFileSync(join(app.dataDir, 'crowdsec/log/access.log'), missed('203.0.113.7', MISSING));
  await until('it bans somebody itself', async () => (await found('203.0.113.7')).length === 1, WITHIN_MS);
  expect((await remove()).status).toBe(204);
  expect(await status()).toMatchObject({ decisions: 1, decisions_of_others: 0 });
  await isReading(app);
  const { last_sync } = await status();
  await until('they are told again', async () => ((await status()).last_sync ?? '') > (last_sync ?? ''), WITHIN_MS);
  expect(await status()).toMatchObject({ decisions: 1, decisions_of_others: 0 });
});
