import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { reserve } from './free-ports.ts';

const script = `
  const { freePorts } = await import(${JSON.stringify(new URL('./free-ports.ts', import.meta.url).href)});
  console.log((await freePorts(20)).join(' '));
  process.stdout.end();
  process.stdin.resume();`;

test('a port is of one process, until that has ended, however it ends', async () => {
  const other = spawn(process.execPath, ['--input-type=module', '-e', script]);
  const ports = (await text(other.stdout)).trim().split(' ').map(Number);
  expect(new Set(ports).size).toBe(20);
  for (const port of ports) expect(await reserve(port), `${port}`).toBe(false);
  const ended = once(other, 'exit');
  other.kill('SIGKILL');
  await ended;
  for (const port of ports) expect(await reserve(port), `${port}`).toBe(true);
});
