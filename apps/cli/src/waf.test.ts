import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const main = join(import.meta.dirname, 'main.ts');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-waf-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content, 'latin1');
  return path;
};

const run = (...args: string[]): Promise<{ code: number; out: string; err: string }> =>
  new Promise((resolve) => {
    const child = execFile(process.execPath, [main, 'waf', ...args], (_error, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });

describe('waf check', () => {
  test('names file, line, column, token and what was expected, and fails; a terminal obeys nothing of it', async () => {
    const path = file('bad.conf', 'SecRule ARGS "@rx a" \\\n  "id:1,t:lowercse"\nSec\x1b[31m x\n');
    const { code, out } = await run('check', path);
    expect(out).toBe(
      `${path}:3:1: error: There is no such directive (near "Sec\ufffd[31m"; expected a directive of SecLang)\n` +
        `${path}:2:11: error: There is no such transformation (near "lowercse"; expected lowercase)\n` +
        'the rules do not load: 2 errors\n',
    );
    expect(code).toBe(1);
  });

  test('passes good rules, tells findings, and fails for them only when strict', async () => {
    const path = file('slow.conf', 'SecRule ARGS "@rx ^(a+)+$" "id:1,phase:2,pass"\n');
    const relaxed = await run('check', path);
    expect(relaxed.out).toContain('superlinear: rule 1:');
    expect(relaxed.out).toContain('1 rules, 0 diagnostics, 1 findings\n');
    expect(relaxed.code).toBe(0);
    expect((await run('check', '--strict', path)).code).toBe(2);
  });

  test('says which file cannot be read', async () => {
    const { code, err } = await run('check', join(folder, 'none.conf'));
    expect(err).toMatch(/^sallyport: cannot read .*none\.conf: ENOENT/);
    expect(code).toBe(1);
  });
});

describe('waf explain', () => {
  test('tells which rule fired, on what, after which transformations', async () => {
    const rules = file(
      'evil.conf',
      `SecRule ARGS "@contains evil" "id:1,phase:2,deny,t:none,t:lowercase,log,msg:'Evil found'"\n`,
    );
    const body = 'a=EVIL';
    const request = file(
      'request.txt',
      `POST /x HTTP/1.1\r\nHost: a.example\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const { code, out } = await run('explain', '--rules', rules, '--request', request);
    expect(out.split('\n')).toEqual([
      `match    1 (phase 2, ${rules}:1) ARGS:a = "evil" after lowercase: @contains evil`,
      'rule 1 (phase 2): Evil found',
      'anomaly score 0, threshold none, by level 0/0/0/0',
      'the request would be answered: block, by rule 1',
      '',
    ]);
    expect(code).toBe(0);
  });

  test('judges by the rules in force when none are named', async () => {
    const rules = file('own.conf', `SecRule ARGS "@contains evil" "id:7,phase:1,deny,log,msg:'Evil found'"\n`);
    const request = file('get.txt', 'GET /?a=evil HTTP/1.1\r\nHost: a.example\r\n\r\n');
    const dataDir = mkdtempSync(join(folder, 'data-'));
    const explained = () => run('explain', '--request', request, '--data-dir', dataDir);
    const none = await explained();
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('guard/config.json') });
    mkdirSync(join(dataDir, 'guard'));
    const sources = [
      { kind: 'text', path: 'settings', text: 'SecAction "id:8,phase:1,pass,nolog"\n' },
      { kind: 'file', path: rules },
    ];
    writeFileSync(join(dataDir, 'guard/config.json'), JSON.stringify({ waf: { rule_sources: sources } }));
    const { code, out } = await explained();
    expect(out).toContain('rule 7 (phase 1): Evil found\n');
    expect(code).toBe(0);
  });

  test('refuses a file that is no request', async () => {
    const rules = file('none.conf', '');
    const { code, err } = await run('explain', '--rules', rules, '--request', file('empty.txt', ''));
    expect(err).toBe('sallyport: the request file does not begin with a request line such as "GET / HTTP/1.1"\n');
    expect(code).toBe(1);
  });
});
