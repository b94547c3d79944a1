import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { prepareRunDirectory, proxyConfinement, proxySocketMode, runDirectory } from './proxy-account.ts';

const groupId = Number(/^haproxy:[^:]*:(\d+):/m.exec(readFileSync('/etc/group', 'utf8'))?.[1]);

const givenDataDir = () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-run-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  return dataDir;
};

// Debian's package makes the account; another user can't hand HAProxy over to it.
describe.runIf(process.getuid?.() === 0 && groupId > 0)(
  'the directory where HAProxy meets the others, made by root',
  () => {
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
  },
);
