import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { until } from '../../../test/support/until.ts';

/** A Caddy that serves nothing and says what it makes of Caddyfiles, as `caddy adapt` does; one process for all of them. */
export interface Caddy {
  /** Its configuration for this text, or the message with which it refuses. */
  adapt(text: string): Promise<{ config: unknown } | { error: string }>;
  stop(): Promise<void>;
}

/** Starts Debian's Caddy in `directory`, where `files` are written, which texts may then import. */
export const startCaddy = async (
  directory: string,
  files: readonly { name: string; content: string }[],
  environment: Readonly<Record<string, string>>,
): Promise<Caddy> => {
  for (const { name, content } of files) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
  const socketPath = join(directory, 'admin.sock');
  const admin = { origins: ['localhost'], listen: `unix/${socketPath}`, config: { persist: false } };
  writeFileSync(join(directory, 'run.json'), JSON.stringify({ admin }));
  const child = spawn('caddy', ['run', '--config', 'run.json'], {
    cwd: directory,
    stdio: 'ignore',
    env: {
      PATH: process.env.PATH,
      HOME: directory,
      XDG_DATA_HOME: directory,
      XDG_CONFIG_HOME: directory,
      ...environment,
    },
  });
  const ended = once(child, 'exit');
  // Rejects when there is no Caddy, or it ends by itself: then nothing was compared.
  await Promise.race([
    until('the socket of Caddy', () => existsSync(socketPath), 60_000),
    ended.then(([code]) => {
      throw new Error(`Caddy ended with ${code} before it answered`);
    }),
  ]);
  const post = (text: string) =>
    new Promise<{ config: unknown } | { error: string }>((resolve, reject) => {
      const headers = { host: 'localhost', 'content-type': 'text/caddyfile' };
      const outgoing = request({ socketPath, path: '/adapt', method: 'POST', headers }, (incoming) => {
        let body = '';
        incoming.setEncoding('utf8').on('data', (piece) => {
          body += piece;
        });
        incoming.on('error', reject).on('end', () => {
          const answer = JSON.parse(body);
          if (incoming.statusCode === 200) resolve({ config: answer.result });
          else if (incoming.statusCode === 400) resolve({ error: String(answer.error) });
          else reject(new Error(`Caddy answers ${incoming.statusCode}: ${body}`));
        });
      });
      outgoing.on('error', reject).end(text);
    });
  /** In a process of its own: in 2.6.2 the option `order` of one Caddyfile stays in force for the next. */
  const alone = (text: string) =>
    new Promise<{ config: unknown } | { error: string }>((resolve, reject) => {
      writeFileSync(join(directory, 'Caddyfile'), text);
      execFile('caddy', ['adapt', '--config', 'Caddyfile'], { cwd: directory }, (error, stdout) => {
        if (!error) resolve({ config: JSON.parse(stdout) });
        // One that could not be run, or was killed, refuses nothing.
        else if (error.code === 1) resolve({ error: error.message });
        else reject(error);
      });
    });
  return {
    adapt: (text) => (/^\s*order /m.test(text) ? alone(text) : post(text)),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
};
