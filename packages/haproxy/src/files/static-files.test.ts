import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { challengePattern } from '../config/challenges.ts';
import { renderExploitPatterns } from '../config/exploit-patterns.ts';
import { dataPlaneFiles } from '../config/layout.ts';
import { otherTargetPatterns } from '../config/names.ts';
import { defaultSettings } from '../config/settings.ts';
import { writeStaticFiles } from './static-files.ts';

const guard = { agents: ['/a'], relays: ['/r'], returnSocket: '/b', timeoutMs: 1 };
const settings = {
  ...defaultSettings,
  http: [{ address: '127.0.0.1', port: 80 }],
  https: [{ address: '127.0.0.1', port: 443 }],
  adminSocket: '/run/admin.sock',
  trustedProxies: ['10.0.0.0/8', '::1'],
};
const maps = (['hosts', 'overlay', 'bans', 'whitelist', 'bypass', 'limits', 'switches', 'challenges'] as const).map(
  (name) => dataPlaneFiles[`${name}Map`],
);

test('all that HAProxy insists on is there; what others fill is kept, the rest is written anew', () =>
  withTemporaryDirectory(async (directory) => {
    const read = (file: string) => readFileSync(join(directory, file), 'utf8');
    const spoeFile = join(directory, 'guard.spoe');
    await writeStaticFiles(directory, { ...settings, guard: { ...guard, spoeFile } });
    expect(maps.map(read)).toEqual(maps.map(() => ''));
    expect(read(dataPlaneFiles.trustedProxies)).toBe('10.0.0.0/8\n::1\n');
    expect(read(dataPlaneFiles.crtList)).toBe(`${dataPlaneFiles.defaultCertificate}\n`);
    expect(read('guard.spoe')).toContain('spoe-agent');
    for (const file of [dataPlaneFiles.pageFragments, dataPlaneFiles.exploitPatterns, dataPlaneFiles.config])
      expect(read(file).length).toBeGreaterThan(100);
    // What is notable is what is refused, and ways around a route: another form of target, a challenge's path, what is encoded.
    expect(read(dataPlaneFiles.exploitPatterns)).toBe(renderExploitPatterns());
    const notable = renderExploitPatterns([challengePattern, '%', ...otherTargetPatterns]);
    expect(read(dataPlaneFiles.notablePatterns)).toBe(notable);
    expect(notable).toContain('acme-challenge');
    for (const file of readdirSync(directory)) expect(statSync(join(directory, file)).mode & 0o077).toBe(0);

    const certificate = read(dataPlaneFiles.defaultCertificate);
    const { subject, validFromDate, validToDate } = new X509Certificate(certificate);
    const [before, days] = [Date.now() - validFromDate.getTime(), validToDate.getTime() - validFromDate.getTime()].map(
      (ms) => ms / 86_400_000,
    );
    expect([subject, Math.floor(before!), days]).toEqual(['CN=sallyport.invalid', 1, 3_650]);
    expect(certificate).toContain('PRIVATE KEY');

    for (const file of [...maps, dataPlaneFiles.crtList]) writeFileSync(join(directory, file), `${file} held\n`);
    await writeStaticFiles(directory, {
      ...settings,
      trustedProxies: [],
      http: [{ address: '127.0.0.1', port: 8_080 }],
    });
    for (const file of [...maps, dataPlaneFiles.crtList]) expect(read(file)).toBe(`${file} held\n`);
    expect(read(dataPlaneFiles.defaultCertificate)).toBe(certificate);
    expect(read(dataPlaneFiles.trustedProxies)).toBe('');
    expect(read(dataPlaneFiles.config)).toContain(':8080');
  }));

test('nothing is written with settings that are refused', () =>
  withTemporaryDirectory(async (directory) => {
    await expect(writeStaticFiles(directory, { ...settings, threads: 0 })).rejects.toThrow('threads: ');
    expect(readdirSync(directory).filter((file) => file !== dataPlaneFiles.instance)).toEqual([]);
  }));
