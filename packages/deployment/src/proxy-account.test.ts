import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isRoot } from '../../../test/support/is-root.ts';
import { prepareRunDirectory, proxyConfinement, proxySocketMode, runDirectory } from './proxy-account.ts';

const groupId = Number(/^haproxy:[^:]*:(\d+):/m.exec(readFileSync('/etc/group', 'utf8'))?.[1]);

const givenDataDir = () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-run-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  return dataDir;
};

// Debian's package makes the account; another user can't hand HAProxy over to it.
describe.runIf(isRoot && groupId > 0)('the directory where HAProxy meets the others, made by root', () => {
  test('may be passed through by its group, which what is made there gets as well', () => {
    const dataDir = join(givenDataDir(), 'not', 'yet');
    expect(proxyConfinement(dataDir)).toBeNull();
    expect(existsSync(runDirectory(dataDir))).toBe(false);
    expect(prepareRunDirectory(dataDir)).toBeUndefined();
    const { mode, uid, gid } = statSync(join(dataDir, 'run'));
    expect({ mode: mode & 0o7777, uid, gid }).toEqual({ mode: 0o2710, uid: 0, gid: groupId });
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(proxyConfinement(dataDir)).toEqual({ user: 'haproxy', group: 'haproxy', directory: join(dataDir, 'run') });
    expect(proxySocketMode(join(dataDir, 'run', 'guard-0.sock'))).toBe(0o660);
  });

  test('confines nothing while it is closed to the group', () => {
    const dataDir = givenDataDir();
    prepareRunDirectory(dataDir);
    chmodSync(join(dataDir, 'run'), 0o700);
    expect(proxyConfinement(dataDir)).toBeNull();
    expect(proxySocketMode(join(dataDir, 'run', 'guard-0.sock'))).toBe(0o600);
    // Opened again with the next start.
    expect(prepareRunDirectory(dataDir)).toBeUndefined();
    expect(proxyConfinement(dataDir)).not.toBeNull();
  });

  /** What a process makes of it that setpriv(1) has taken rights away from. */
  const asAnother = (dataDir: string, ...rights: string[]) => {
    const script = `
      import { join } from 'node:path';
      const account = await import(${JSON.stringify(new URL('./proxy-account.ts', import.meta.url).href)});
      const { DATA: dataDir } = process.env;
      const reason = account.prepareRunDirectory(dataDir);
      const confinement = account.proxyConfinement(dataDir);
      const mode = account.proxySocketMode(join(dataDir, 'run', 'guard-0.sock'));
      console.log(JSON.stringify({ reason, confinement, mode }));`;
    const argv = [...rights, process.execPath, '--input-type=module-typescript', '-e', script];
    const output = execFileSync('setpriv', argv, {
      env: { PATH: process.env.PATH, DATA: dataDir },
      encoding: 'utf8',
    });
    return JSON.parse(output);
  };

  test.each(['chown', 'setgid', 'setuid', 'sys_chroot'])(
    'confines nothing without the right to %s, and says so',
    (right) => {
      const dataDir = givenDataDir();
      // Opened by one that had all rights.
      prepareRunDirectory(dataDir);
      expect(asAnother(dataDir, `--bounding-set=-${right}`)).toEqual({
        reason: 'root has not got all its rights here',
        confinement: null,
        mode: 0o600,
      });
      expect(statSync(join(dataDir, 'run')).mode & 0o777).toBe(0o700);
    },
  );

  test('is for its owner only when that is not root', () => {
    const dataDir = givenDataDir();
    prepareRunDirectory(dataDir);
    chownSync(dataDir, 65_534, 65_534);
    chownSync(join(dataDir, 'run'), 65_534, groupId);
    chmodSync(join(dataDir, 'run'), 0o2710);
    // May read the code of this test, wherever that is.
    const read = ['--inh-caps=-all,+dac_read_search', '--ambient-caps=-all,+dac_read_search'];
    const found = asAnother(dataDir, '--reuid=65534', '--regid=65534', '--clear-groups', ...read);
    expect(found).toEqual({ confinement: null, mode: 0o600 });
    expect(statSync(join(dataDir, 'run')).mode & 0o777).toBe(0o700);
  });
});
