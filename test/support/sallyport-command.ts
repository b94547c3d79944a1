import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** What a command wrote, and its exit code. */
interface Outcome {
  code: number | null;
  out: string;
  err: string;
}

const main = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));

/** Runs `sallyport` on a data directory, in a process of its own; `input` is what is typed. It meets no server unless `env` says where. */
export const sallyport = async (
  dataDir: string,
  args: readonly string[],
  options: { input?: string; env?: object } = {},
): Promise<Outcome> => {
  const { DATABASE_URL: _database, ...environment } = process.env;
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...environment, SALLYPORT_DATA_DIR: dataDir, SALLYPORT_HTTP_BIND: '127.0.0.1:1', ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(options.input ?? '');
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, out, err };
};
