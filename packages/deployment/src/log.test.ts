import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { createLog } from './log.ts';

const OPENING = `
  import { createLog, logOutput } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)};
  const log = createLog('guard', 'info', process.env.FORMAT ? logOutput(process.env.FORMAT) : undefined);
  process.on('disconnect', () => process.exit(0));
`;

const PROGRAM = `${OPENING}
  process.on('message', () => {
    log.debug('not shown');
    log.info({ host: 'a.example.com' }, 'shown');
    process.send('written');
  });
  process.send('ready');
`;

const startProgram = (format: string, more = '') => {
  const program = more === '' ? PROGRAM : `${OPENING}\n${more}`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
    env: { PATH: process.env.PATH, FORMAT: format },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, output: child.stdout! };
};

test.each([
  ['text', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}info {3}guard {7}shown {2}host=a\.example\.com\n$/],
  ['json', /^\{"level":30,.*"name":"guard","host":"a\.example\.com","msg":"shown"\}\n$/],
  ['', /^\{"level":30,.*"msg":"shown"\}\n$/],
])('writes to standard output as %j', async (format, line) => {
  const { child, output } = startProgram(format);
  const written = text(output);
  await once(child, 'message');
  child.send('log');
  await once(child, 'message');
  child.disconnect();
  expect(await written).toMatch(line);
});

test('writes all of it before it ends, whether it waits for that or not', async () => {
  const { child, output } = startProgram(
    'json',
    'for (let n = 0; n < 2_000; n += 1) log.info({ n }, "line"); process.exit(0)',
  );
  const written = text(output);
  expect(await once(child, 'exit')).toEqual([0, null]);
  const numbers = (await written)
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).n);
  expect(numbers).toEqual(Array.from({ length: 2_000 }, (_, n) => n));
});

test('leaves out what nobody reads, and goes on with whole lines when it is read again', async () => {
  const burst =
    'for (let n = 0; n < 20_000; n += 1) log.info({ n, long: "x".repeat(100) }, "line"); process.send("said")';
  const { child, output } = startProgram('json', `${burst}; process.on('message', () => log.info('at the end'));`);
  await once(child, 'message');
  const read = text(output);
  let seen = '';
  output.on('data', (chunk) => {
    seen += chunk;
  });
  await expect.poll(() => seen.length > 1_000_000 && seen.endsWith('\n')).toBe(true);
  child.send('log');
  await expect.poll(() => seen.includes('at the end')).toBe(true);
  child.disconnect();
  const lines = (await read).split('\n').slice(0, -1);
  for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
  expect(lines.length).toBeLessThan(20_000);
});

test.each(['text', 'json'])('goes on when nobody reads its output any more: %s', async (format) => {
  const { child, output } = startProgram(format);
  await once(child, 'message');
  output.destroy();
  await once(output, 'close');
  for (let times = 0; times < 3; times += 1) {
    child.send('log');
    expect((await once(child, 'message'))[0]).toBe('written');
  }
  child.disconnect();
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test.each(['text', 'json', ''])('goes on when there is no room for its output any more: %s', async (format) => {
  // Takes no byte.
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', PROGRAM], {
    env: { PATH: process.env.PATH, FORMAT: format },
    stdio: ['ignore', full, 'inherit', 'ipc'],
  });
  closeSync(full);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  for (let times = 0; times < 3; times += 1) {
    child.send('log');
    expect((await once(child, 'message'))[0]).toBe('written');
  }
  child.disconnect();
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('writes from its level on', () => {
  const written = (level: string) => {
    const lines: string[] = [];
    const log = createLog('server', level, { write: (line) => void lines.push(JSON.parse(line).msg) });
    for (const each of ['debug', 'info', 'warn', 'error'] as const) log[each](each);
    return lines;
  };
  expect(written('debug')).toEqual(['debug', 'info', 'warn', 'error']);
  expect(written('warn')).toEqual(['warn', 'error']);
});

test('hides what is secret, however deep it is in what is logged', () => {
  const lines: string[] = [];
  const log = createLog('server', 'info', { write: (line) => void lines.push(line) });
  for (const field of ['authorization', 'cookie', 'password', 'token', 'secret', 'key_sealed', 'pem']) {
    log.info({ [field]: 'sesame', a: { [field]: 'sesame', b: { [field]: 'sesame' } } }, 'in');
  }
  expect(lines).toHaveLength(7);
  expect(lines.join('')).not.toContain('sesame');
});
