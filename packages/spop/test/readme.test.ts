import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { haproxyVersion, hasSpopMux } from './haproxy.ts';

const children: ChildProcess[] = [];
let directory: string | undefined;

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  if (directory !== undefined) await rm(directory, { recursive: true });
});

test('the example of the README does what it says', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const [agent, spoe, haproxy] = [...readme.matchAll(/```\w*\n(.*?)```/gs)].map((match) => match[1] ?? '');
  directory = await mkdtemp(join(tmpdir(), 'spop-readme-'));
  const placed = (text = '') =>
    text
      .replaceAll('/run/example', String(directory))
      .replace('127.0.0.1:8080', `unix@${directory}/web.sock`)
      .replace('@sallyport/spop', new URL('../src/index.ts', import.meta.url).pathname)
      .replace('mode tcp', hasSpopMux(version) ? 'mode spop' : 'mode tcp');
  const version = await haproxyVersion();
  await writeFile(join(directory, 'agent.ts'), placed(agent));
  await writeFile(join(directory, 'spoe.cfg'), placed(spoe));
  await writeFile(join(directory, 'haproxy.cfg'), placed(haproxy));

  const run = (command: string, args: string[]) =>
    children.push(spawn(command, args, { cwd: directory, stdio: 'ignore' }));
  run(process.execPath, ['agent.ts']);
  run(process.env.HAPROXY_BIN ?? 'haproxy', ['-db', '-f', 'haproxy.cfg']);
  const status = async (path: string) => {
    const args = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '--unix-socket', join(directory ?? '', 'web.sock')];
    const { stdout } = await promisify(execFile)('curl', [...args, `http://example.test${path}`]).catch(() => ({
      stdout: '',
    }));
    return stdout;
  };
  await expect.poll(() => status('/')).toBe('200');
  expect(await status('/secret')).toBe('403');

  children[0]?.kill('SIGTERM');
  await new Promise((resolve) => children[0]?.once('exit', resolve));
  expect(await status('/')).toBe('503');
});
