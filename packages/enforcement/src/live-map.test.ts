import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createAdminSocket } from '@sallyport/haproxy';
import { expect, onTestFinished, test } from 'vitest';
import { isRoot } from '../../../test/support/is-root.ts';
import { until } from '../../../test/support/until.ts';
import { APPLIED, attempt, both, createEnforcementMap, holdsMapped, mapKeys, notApplied } from './live-map.ts';

const file = 'maps/some.map';

const givenMap = () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sp-map-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const admin = join(dataDir, 'admin.sock');
  const socket = createAdminSocket({ path: admin });
  return { dataDir, admin, socket, map: createEnforcementMap({ dataDir, socket, file, heading: 'Some networks.' }) };
};

const text = (path: string) => readFileSync(path, 'utf8');

test('writes the file that HAProxy reads at its next start, and only when it has changed', async () => {
  const { dataDir, map } = givenMap();
  await map.write([
    ['10.0.0.0/8', '1'],
    ['::1', '2'],
  ]);
  expect(map.path).toBe(join(dataDir, 'haproxy', file));
  expect(text(map.path)).toBe('# Some networks.\n10.0.0.0/8 1\n::1 2\n');
  const { ino } = statSync(map.path);
  await map.write([
    ['10.0.0.0/8', '1'],
    ['::1', '2'],
  ]);
  expect(statSync(map.path).ino).toBe(ino);
  await map.write([['10.0.0.0/8', '1']]);
  expect(text(map.path)).toBe('# Some networks.\n10.0.0.0/8 1\n');
});

test('puts back what was written last when somebody changed or removed the file, and nothing that it was told to forget', async () => {
  const { map } = givenMap();
  await map.restore();
  expect(existsSync(map.path)).toBe(false);
  await map.write([['10.0.0.0/8', '1']]);
  const written = text(map.path);
  writeFileSync(map.path, '10.0.0.0/8 0\n');
  await map.restore();
  expect(text(map.path)).toBe(written);
  rmSync(map.path);
  await map.restore();
  expect(text(map.path)).toBe(written);
  map.forget();
  writeFileSync(map.path, 'changed\n');
  await map.restore();
  expect(text(map.path)).toBe('changed\n');
});

test('empties a file that it can not replace: an old one would let through what is refused since', async () => {
  // The draft has a longer name, for which a file system that allows 255 bytes has no room.
  const { dataDir, socket } = givenMap();
  const file = `maps/${'m'.repeat(250)}`;
  const path = join(dataDir, 'haproxy', file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, 'old 1\n');
  const long = createEnforcementMap({ dataDir, socket, file, heading: 'Long.' });
  await expect(long.write([['10.0.0.0/8', '1']])).rejects.toThrow(/^cannot write \S+: ENAMETOOLONG/);
  expect(text(path)).toBe('');
  // Where there is nothing to empty, it is the failure to write that is told.
  rmSync(path);
  await expect(long.write([['10.0.0.0/8', '1']])).rejects.toThrow(/^cannot write \S+: ENAMETOOLONG/);
});

test('replaces the entries of a running HAProxy, in as many commands as they need', async () => {
  const { dataDir, admin, socket, map } = givenMap();
  await map.write([['192.0.2.1', 'before']]);
  const config = join(dataDir, 'haproxy.cfg');
  writeFileSync(
    config,
    `global
  default-path config
  stats socket ${admin} mode 600 level admin
defaults
  mode http
  timeout connect 1s
  timeout client 1s
  timeout server 1s
frontend f
  bind unix@${join(dataDir, 'f.sock')}
  http-request deny if { src,map_ip(haproxy/${file}) -m found }
`,
  );
  chmodSync(dataDir, 0o755);
  const haproxy = spawn(process.env.HAPROXY ?? '/usr/sbin/haproxy', ['-f', config], { stdio: 'ignore' });
  onTestFinished(async () => {
    haproxy.kill('SIGKILL');
    if (haproxy.exitCode === null && haproxy.signalCode === null) await once(haproxy, 'exit');
  });
  await until('HAProxy listens', () => existsSync(admin));
  const live = createEnforcementMap({
    dataDir,
    socket,
    file: `haproxy/${file}`,
    heading: '',
  });
  expect(await live.commands.get('192.0.2.1')).toBe('before');
  const entries = Array.from({ length: 2_000 }, (_, n): [string, string] => [
    `10.0.${n >> 8}.${n & 255}`,
    `reference-${n}`,
  ]);
  expect(await attempt(() => live.replace(entries))).toEqual(APPLIED);
  const found: [string, string][] = [];
  await live.commands.forEach((key, value) => void found.push([key, value]));
  expect(found.toSorted()).toEqual(entries.toSorted());
  expect(await live.commands.get('192.0.2.1')).toBeUndefined();
});

test('tells why a change is not in force', async () => {
  const { map } = givenMap();
  expect(await attempt(() => map.replace([]))).toEqual({
    applied: false,
    issue: expect.stringMatching(/^HAProxy is not running: HAProxy did not answer "prepare map/),
  });
  expect(await attempt(() => Promise.reject(new Error('refused')))).toEqual({ applied: false, issue: 'refused' });
  expect(await attempt(() => Promise.reject('a text'))).toEqual({ applied: false, issue: 'a text' });
  expect(await attempt(async () => {})).toEqual({ applied: true, issue: null });
});

test('a change is in force when both the file and HAProxy have it', () => {
  expect(both(APPLIED, APPLIED)).toEqual({ applied: true, issue: null });
  expect(both(notApplied('disk full'), APPLIED)).toEqual({ applied: false, issue: 'disk full' });
  expect(both(APPLIED, notApplied('away'))).toEqual({ applied: false, issue: 'away' });
  expect(both(notApplied('disk full'), notApplied('away'))).toEqual({ applied: false, issue: 'disk full' });
});

test.each([
  ['::/0', true],
  ['::/95', false],
  ['::fffe:0:0/95', true],
  ['::fffc:0:0/94', true],
  ['::ffff:0:0/96', false],
  ['::/96', false],
  ['::1', false],
  ['2001:db8::/32', false],
  ['0.0.0.0/0', false],
])('whether HAProxy would find IPv4 addresses in %s: %s', (network, isSo) => {
  expect(holdsMapped(network)).toBe(isSo);
  expect(mapKeys(network).includes(network)).toBe(!isSo);
});

test('a network that has one other beside the IPv4 addresses stands for that one', () => {
  expect(mapKeys('::fffe:0:0/95')).toEqual(['::fffe:0:0/96']);
});

test.skipIf(!isRoot)(
  'a short file is written where the old one was when the disk is full, a long one is emptied',
  async () => {
    const { map } = givenMap();
    const disk = dirname(map.path);
    mkdirSync(disk, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
    onTestFinished(() => void execFileSync('umount', [disk]));
    await map.write([['requests', '100']]);
    try {
      for (;;) appendFileSync(join(disk, 'filling'), Buffer.alloc(4_096));
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' });
    }
    await map.write([['requests', '0']]);
    expect(text(map.path)).toBe('# Some networks.\nrequests 0\n');
    const many = Array.from({ length: 500 }, (_, n): [string, string] => [`10.0.0.${n}`, '1']);
    await expect(map.write(many)).rejects.toThrow('cannot write');
    expect(text(map.path)).toBe('');
  },
);
