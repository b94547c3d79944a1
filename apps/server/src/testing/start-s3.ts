import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../../test/support/free-ports.ts';
import { until } from '../../../../test/support/until.ts';

/** The one key that the server takes. */
export const S3_KEY = { accessKey: 'S3RVER', secretKey: 'S3RVER' };

/** As the server names the files that it keeps objects in. */
const SUFFIX = '._S3rver_object';

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.destroy() && resolve(true));
    socket.once('error', () => resolve(false));
  });

/** Starts a server that speaks S3 and checks signatures, with the bucket `kept`. */
export const startS3 = async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-s3-'));
  const port = await freePort();
  const options = { port, address: '127.0.0.1', silent: true, directory, configureBuckets: [{ name: 'kept' }] };
  const program = `import S3 from '@20minutes/s3rver'; await new S3(${JSON.stringify(options)}).run();`;
  const run = async () => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await until('the S3 server answers', () => answers(port));
    return child;
  };
  let child = await run();
  const end = async () => {
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGKILL')) await ended;
  };
  const bucket = join(directory, 'kept');
  return {
    url: `http://127.0.0.1:${port}/kept`,
    port,
    directory,
    /** Keys of the objects below a prefix that ends with a slash, or of all. */
    keys: (prefix = ''): string[] =>
      existsSync(join(bucket, prefix))
        ? readdirSync(join(bucket, prefix))
            .filter((name) => name.endsWith(SUFFIX))
            .map((name) => name.slice(0, -SUFFIX.length))
            .sort()
        : [],
    read: (key: string): Buffer => readFileSync(join(bucket, `${key}${SUFFIX}`)),
    /** Ends it, and starts it again on what it kept. */
    end,
    async startAgain() {
      child = await run();
    },
    /** As it began: running, and nothing in the bucket. */
    async reset() {
      for (const name of readdirSync(bucket)) rmSync(join(bucket, name), { recursive: true });
      if (child.exitCode !== null || child.signalCode !== null) child = await run();
    },
    async stop() {
      await end();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
