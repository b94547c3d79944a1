import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findInstances } from '@sallyport/deployment/instances';
import { expect, onTestFinished, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { checkShell } from './shell.ts';

/** A process that is called as the server is, and waits. */
const startNamed = async (directory: string, dataDir: string): Promise<void> => {
  const program = join(directory, 'apps/server/src/main.ts');
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(program, "console.log('runs'); setInterval(() => {}, 60_000);");
  const child = spawn(process.execPath, [program], {
    ...{ env: { SALLYPORT_DATA_DIR: dataDir }, stdio: ['ignore', 'pipe', 'ignore'] },
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  if (child.stdout) await once(child.stdout, 'data');
};

test('a shell finds an instance that runs, by its directory where several do', () =>
  withTemporaryDirectory(async (directory) => {
    const [one, other] = [join(directory, 'one'), join(directory, 'other')];
    for (const dataDir of [one, other]) mkdirSync(dataDir);
    const named = `"sallyport --data-dir ${one} emergency reset"`;
    expect(checkShell(one)).toEqual({
      ok: false,
      message: `"sallyport emergency reset" does not see by itself what runs on ${one}: from a shell name it, as in ${named}, with DATABASE_URL where it is set`,
    });
    await startNamed(directory, one);
    // Others may run on this machine.
    const before = findInstances().length;
    const alone = checkShell(one);
    expect(alone.ok).toBe(true);
    if (before === 1 && findInstances().length === 1) {
      expect(alone.message).toBe('"sallyport emergency reset" finds this instance');
    }
    expect(checkShell(other).ok).toBe(false);
    await startNamed(directory, other);
    const { ok, message } = checkShell(one);
    expect(ok).toBe(true);
    expect(message.replace(/^\d+/, 'N')).toBe(`N instances run here: ${named} finds this one`);
    expect(Number.parseInt(message, 10)).toBeGreaterThanOrEqual(2);
  }));
