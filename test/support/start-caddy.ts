import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './until.ts';

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

/** Runs Debian's Caddy with a Caddyfile; resolves once it takes connections at `ports`, with what ends it. */
export const startCaddy = async (caddyfile: string, ports: readonly number[]): Promise<{ stop(): Promise<void> }> => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-caddy-'));
  const file = join(directory, 'Caddyfile');
  writeFileSync(file, caddyfile);
  const env = { PATH: process.env.PATH, HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory };
  const child = spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], { env, stdio: 'pipe' });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  await until(
    'Caddy takes connections',
    async () => {
      if (child.exitCode !== null) throw new Error(`caddy ended: ${said}`);
      return (await Promise.all(ports.map(isOpen))).every(Boolean);
    },
    60_000,
  );
  return {
    async stop() {
      child.kill('SIGKILL');
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
