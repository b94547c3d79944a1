import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { createLog } from './log.ts';

const PROGRAM = `
  import { createLog, logOutput } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)};
  const log = createLog('guard', 'info', process.env.FORMAT ? logOutput(process.env.FORMAT) : undefined);
  process.on('message', () => {
    log.debug('not shown');
    log.info({ host: 'a.example.com' }, 'shown');
    process.send('written');
  });
  process.on('disconnect', () => process.exit(0));
  process.send('ready');
`;

const startProgram = (format: string) => {
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', PROGRAM], {
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

test('hides what is secret, however deep it is in what is logged', () => {
  const lines: string[] = [];
  const log = createLog('server', 'info', { write: (line) => void lines.push(line) });
  for (const field of ['authorization', 'cookie', 'password', 'token', 'secret', 'key_sealed', 'pem']) {
    log.info({ [field]: 'sesame', a: { [field]: 'sesame', b: { [field]: 'sesame' } } }, 'in');
  }
  expect(lines).toHaveLength(7);
  expect(lines.join('')).not.toContain('sesame');
});
