import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readState, type SupervisorState, writeState } from './supervisor-state.ts';

const stateFile = () => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-state-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return join(dir, 'supervisor.json');
};

const state: SupervisorState = {
  boot_id: 'b',
  proxy_http: ':80',
  proxy_https: ':443',
  children: [{ name: 'server', pid: 7, start_time: '123', argv: ['node', 'main.ts'] }],
};

test('reads back what was written, for its owner only', () => {
  const path = stateFile();
  writeState(path, state);
  expect(readState(path)).toEqual(state);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test.each([
  ['nothing', ''],
  ['half a file', '{"boot_id": "b", "chil'],
  [
    'another shape',
    '{"boot_id": "b", "proxy_http": ":80", "proxy_https": ":443", "children": [{"name": "server", "pid": "7"}]}',
  ],
  ['null', 'null'],
  ['a text', '"boot_id"'],
  ...['boot_id', 'proxy_http', 'proxy_https', 'children'].map((field): [string, string] => [
    `a state without ${field}`,
    JSON.stringify({ ...state, [field]: undefined }),
  ]),
  ...['name', 'pid', 'start_time'].map((field): [string, string] => [
    `a child without ${field} after one that is whole`,
    JSON.stringify({ ...state, children: [...state.children, { ...state.children[0], [field]: undefined }] }),
  ]),
  ['a child that is none', JSON.stringify({ ...state, children: [null] })],
])('ignores %s', (_, text) => {
  const path = stateFile();
  writeFileSync(path, text);
  expect(readState(path)).toBeUndefined();
});

test('ignores a file that is not there', () => {
  expect(readState(stateFile())).toBeUndefined();
});
