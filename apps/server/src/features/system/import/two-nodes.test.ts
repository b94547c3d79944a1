import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  ErrorBody,
  ImportOutcome,
  ImportPreview,
  ImportSession,
  ImportStatus,
  ProxyHost,
} from '@sallyport/contract';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningServer, startServer } from '../../../server.ts';
import { startApp, type TestApp } from '../../../testing/start-app.ts';

const KEY = { SALLYPORT_ENCRYPTION_KEY: 'one key of both nodes 0123456789abcdef' };
const site = (domain: string) => `${domain} {\n\treverse_proxy 127.0.0.1:9\n}\n`;

let first: TestApp;
let second: RunningServer;
const directory = mkdtempSync(join(tmpdir(), 'sallyport-test-'));
beforeAll(async () => {
  first = await startApp('postgres', KEY);
  second = await startServer({ ...first.config, dataDir: directory }, pino({ level: 'silent' }));
});
afterAll(async () => {
  await second?.stop();
  await first?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const sendTo = async <T>(node: { url: string }, method: string, path: string, body?: object) => {
  const answer = await fetch(`${node.url}/api/v1${path}`, {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: (text === '' ? undefined : JSON.parse(text)) as T };
};
const uploadTo = async (node: { url: string }, domain: string): Promise<string> => {
  const upload = { content: site(domain) };
  const { status, body } = await sendTo<{ session: ImportSession }>(node, 'POST', '/import/upload', upload);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.session.uuid;
};
const commitOn = (node: { url: string }, session_uuid: string) =>
  sendTo<ImportOutcome & ErrorBody>(node, 'POST', '/import/commit', { session_uuid });

test('a session that one node began another one shows, commits and cancels', async () => {
  const uuid = await uploadTo(first, 'a.example.com');
  expect((await sendTo<ImportStatus>(second, 'GET', '/import/status')).body.session?.uuid).toBe(uuid);
  const preview = await sendTo<ImportPreview>(second, 'GET', '/import/preview');
  expect(preview.body.hosts).toMatchObject([{ domain: 'a.example.com' }]);
  expect(await commitOn(second, uuid)).toMatchObject({ status: 200, body: { imported: 1 } });
  expect((await sendTo<ProxyHost[]>(first, 'GET', '/proxy-hosts')).body).toMatchObject([{ domain: 'a.example.com' }]);

  const other = await uploadTo(second, 'b.example.com');
  expect((await sendTo(first, 'DELETE', `/import/cancel?session_uuid=${other}`)).status).toBe(204);
  expect((await sendTo<ImportStatus>(second, 'GET', '/import/status')).body).toEqual({ has_pending: false });
  expect((await commitOn(second, other)).status).toBe(400);
});

test('of two commits at once one wins, and the other is told so, not that there are conflicts', async () => {
  // One that comes when the other is through already finds no session to commit: it has to be tried again.
  for (let round = 0; round < 20; round += 1) {
    const uuid = await uploadTo(first, `round-${round}.example.com`);
    await sendTo(first, 'GET', '/import/preview');
    const answers = await Promise.all([first, second].map((node) => commitOn(node, uuid)));
    const [won, lost] = answers.sort((a, b) => a.status - b.status);
    expect(won, JSON.stringify(answers)).toMatchObject({ status: 200, body: { imported: 1, failed: 0 } });
    const hosts = await sendTo<ProxyHost[]>(second, 'GET', `/proxy-hosts?search=round-${round}.example.com`);
    expect(hosts.body).toHaveLength(1);
    if (lost?.status === 400) expect(lost.body).toMatchObject({ details: 'the session is committed, not reviewing' });
    else {
      const error = `Import session ${uuid} was committed meanwhile`;
      expect(lost, JSON.stringify(answers)).toMatchObject({ status: 409, body: { error } });
      return;
    }
  }
  expect.unreachable('no two commits were at it at once');
});
