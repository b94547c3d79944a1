import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { GuardConfig } from '@sallyport/contract';
import { guardFiles } from '@sallyport/deployment/places';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../../test/support/eventually.ts';
import { createCountFile } from '../tell/count-file.ts';
import { type RunningThread, runThread } from '../threads/run-thread.ts';
import { createLanes, type Lanes, type RequestQuestion } from './lanes.ts';

const given = (revision: number, word: string): GuardConfig => ({
  revision,
  access: { enabled: false, lists: [] },
  waf: {
    enabled: true,
    mode: 'block',
    fail_mode: 'closed',
    rule_sources: [
      {
        kind: 'text',
        path: 'test.conf',
        text: `SecRule REQUEST_BODY "@contains ${word}" "id:1,phase:2,deny,status:403"`,
      },
    ],
    exclusions: [],
  },
  admin_whitelist: [],
  hosts: [],
});

let lastId = 0;
const asking = (body: Uint8Array, headers: string[] = [], isExchange = false): RequestQuestion => ({
  type: 'request',
  id: ++lastId,
  request: {
    reference: 'a',
    hostId: 1,
    addresses: ['192.0.2.1', '1', '192.0.2.2', '80'],
    method: 'POST',
    uri: '/',
    headers: ['Host', 'a.example', 'Content-Type', 'text/plain', ...headers],
  },
  body: { bytes: body.length, file: undefined, blocks: [body] },
  isExchange,
});

const dataDir = mkdtempSync(join(tmpdir(), 'lanes-'));
let inForce: GuardConfig;
let judge: RunningThread;
let lanes: Lanes;

beforeEach(() => {
  const path = guardFiles(dataDir, 0).counters;
  mkdirSync(dirname(path), { recursive: true });
  const counting = createCountFile(path);
  inForce = given(1, 'attack');
  const start = (): RunningThread =>
    runThread('lane', {
      data: { config: inForce, dataDir, index: 0, shared: counting.shared, slot: counting.take() },
      onLine: () => {},
      onExit: () => {},
    });
  judge = start();
  lanes = createLanes({ judge: () => judge, start, now: () => performance.now() });
});
afterEach(async () => {
  await lanes.stop();
  void judge.retire(0);
  await judge.exited;
  rmSync(dataDir, { recursive: true, force: true });
});

test('a compressed body never takes the time of the thread that answers HAProxy, however short it is', async () => {
  const packed = gzipSync('x'.repeat(1_000_000));
  expect((await lanes.judge('a', asking(Buffer.from('short')))).thread).toBe(judge);
  const spoken = await lanes.judge('a', asking(packed, ['content-Encoding', 'gzip']));
  expect(spoken.judgement).toEqual({ action: 'pass' });
  expect(spoken.thread).not.toBe(judge);
  expect(lanes.threads()).toContain(spoken.thread);
});

test('what is asked for after a change is judged by it, whatever is being judged meanwhile', async () => {
  const body = (word: string) => Buffer.from(`${'x'.repeat(100_000)} ${word}`);
  const verdictOf = async (word: string) => (await lanes.judge('a', asking(body(word)))).judgement.action;
  expect([await verdictOf('attack'), await verdictOf('other')]).toEqual(['deny', 'pass']);
  const before = verdictOf('attack');
  inForce = given(2, 'other');
  lanes.adopt(inForce, false);
  expect([await verdictOf('attack'), await verdictOf('other')]).toEqual(['pass', 'deny']);
  expect(await before).toBe('deny');
  const last = verdictOf('other');
  inForce = { ...inForce, revision: 3, waf: { ...inForce.waf, mode: 'monitor' } };
  lanes.adopt(inForce, true);
  expect(await verdictOf('other')).toBe('pass');
  expect(await last).toBe('deny');
});

test('an answer that comes when its rules are gone is refused, not waited for', async () => {
  const { thread, isOpen } = await lanes.judge('a', asking(Buffer.from('short'), [], true));
  expect(isOpen).toBe(true);
  void thread.retire(0);
  await thread.exited;
  const response = { status: 200, httpVersion: 'HTTP/1.1', headers: [], body: null, isTruncated: false };
  await expect(thread.ask({ type: 'response', id: lastId, response })).rejects.toThrow('has ended');
  expect((await thread.adopt(given(9, 'attack'))).diagnostics).not.toEqual([]);
});

test('a lane whose rules could not be prepared refuses, and makes room for one with rules', async () => {
  const good = inForce;
  const rule_sources = [{ kind: 'text' as const, path: 'broken.conf', text: 'SecRule ARGS "@nothing" "id:1"' }];
  inForce = { ...good, waf: { ...good.waf, rule_sources } };
  await expect(lanes.judge('a', asking(Buffer.from('short'), [], true))).rejects.toThrow('has ended');
  await expect(lanes.judge('a', asking(Buffer.alloc(100_000)))).rejects.toThrow('could not be prepared');
  await eventually(lanes.threads).toEqual([]);
  inForce = good;
  const spoken = await lanes.judge('a', asking(Buffer.from('attack'), [], true));
  expect([spoken.judgement.action, spoken.isOpen]).toEqual(['deny', false]);
  expect((await lanes.judge('a', asking(Buffer.alloc(100_000)))).judgement.action).toBe('pass');
});
