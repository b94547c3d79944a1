import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const starter = new URL('./start-postgres.ts', import.meta.url);

const script = `import { startPostgres } from ${JSON.stringify(starter.href)};
const postgres = await startPostgres();
process.stdout.write(postgres.directory + '\\n');
setInterval(() => {}, 1_000);`;

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

test('a PostgreSQL ends, and its directory with it, when the test run that started it is killed', async () => {
  const run = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  });
  onTestFinished(() => void run.kill('SIGKILL'));
  const [said] = await once(run.stdout, 'data');
  const directory = String(said).trim();
  const pid = Number(readFileSync(`${directory}/data/postmaster.pid`, 'utf8').split('\n')[0]);
  expect(isAlive(pid)).toBe(true);
  run.kill('SIGKILL');
  await expect.poll(() => existsSync(directory)).toBe(false);
  await expect.poll(() => isAlive(pid)).toBe(false);
});
