import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../../test/support/free-ports.ts';
import { until } from '../../../../test/support/until.ts';

const SSHD = '/usr/sbin/sshd';
/** As root it demands this directory, which its package makes only when the service starts. */
const PRIVILEGE_SEPARATION = '/run/sshd';

const run = (command: string, args: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  return stdout;
};

/** Makes a key pair at `path` and `path.pub`; returns its fingerprint. */
export const makeSshKey = (path: string, more: readonly string[] = ['-t', 'ed25519', '-N', '']): string => {
  rmSync(path, { force: true });
  run('ssh-keygen', ['-q', '-f', path, ...more]);
  return run('ssh-keygen', ['-lf', `${path}.pub`]).split(' ')[1] ?? '';
};

const greets = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => socket.destroy() && resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });

/** Starts Debian's sshd on loopback, with keys and a configuration of its own; it lets who runs the tests transfer files. */
export const startSshd = async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-sshd-'));
  const at = (name: string) => join(directory, name);
  const port = await freePort();
  makeSshKey(at('client'));
  const fingerprint = makeSshKey(at('host'));
  const files = at('files');
  mkdirSync(files);
  if (process.getuid?.() === 0) mkdirSync(PRIVILEGE_SEPARATION, { recursive: true, mode: 0o755 });
  const configuration = [
    `ListenAddress 127.0.0.1:${port}`,
    `HostKey ${at('host')}`,
    `AuthorizedKeysFile ${at('client.pub')}`,
    'PidFile none',
    'UsePAM no',
    // What the directory of temporary files belongs to is not for this test.
    'StrictModes no',
    'PasswordAuthentication no',
    'PermitRootLogin prohibit-password',
    'Subsystem sftp internal-sftp',
    'ForceCommand internal-sftp',
  ];
  writeFileSync(at('config'), `${configuration.join('\n')}\n`);
  let child: ChildProcess | undefined;
  let log = '';
  const start = async () => {
    const started = spawn(SSHD, ['-D', '-e', '-f', at('config')], { stdio: ['ignore', 'ignore', 'pipe'] });
    started.stderr.on('data', (piece: Buffer) => {
      log += piece;
    });
    child = started;
    await until(
      'sshd greets',
      async () => {
        if (started.exitCode !== null) throw new Error(`sshd ended: ${log}`);
        return greets(port);
      },
      30_000,
    );
  };
  const end = async () => {
    if (!child || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };
  await start();
  return {
    port,
    user: userInfo().username,
    /** Where files are put. */
    files,
    url: `sftp://${userInfo().username}@127.0.0.1:${port}${files}`,
    fingerprint,
    privateKey: readFileSync(at('client'), 'utf8'),
    log: () => log,
    /** Ends it, and starts it with another key; returns the fingerprint. */
    async changeKey(): Promise<string> {
      await end();
      const fresh = makeSshKey(at('host'));
      await start();
      return fresh;
    },
    end,
    start,
    async stop() {
      await end();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
