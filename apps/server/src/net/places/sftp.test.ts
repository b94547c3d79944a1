import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../../test/support/eventually.ts';
import { isRoot } from '../../../../../test/support/is-root.ts';
import { startSshd } from '../../testing/start-sshd.ts';
import { parsePlaceUrl } from './place-url.ts';
import { openSftp, type SftpOptions } from './sftp.ts';

const NAME = 'sallyport-20261122-050000-manual-0a1b2c.backup';
const directory = mkdtempSync(join(tmpdir(), 'sallyport-sftp-test-'));
const path = join(directory, 'source');
const content = Buffer.alloc(8 * 1024 * 1024, 'sallyport');
const source = { path, size: content.length, sha256: createHash('sha256').update(content).digest('hex') };
let sshd: Awaited<ReturnType<typeof startSshd>>;

beforeAll(async () => {
  writeFileSync(path, content);
  sshd = await startSshd();
}, 60_000);
afterAll(async () => {
  await sshd.stop();
  rmSync(directory, { recursive: true });
});

const open = (more: Partial<SftpOptions> = {}, url = sshd.url) =>
  openSftp({
    place: parsePlaceUrl(url) as SftpOptions['place'],
    privateKey: sshd.privateKey,
    password: '',
    hostKeys: [sshd.fingerprint],
    signal: new AbortController().signal,
    ...more,
  });
const opened = () =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });

test('what is put is read back, byte for byte, and what is removed is gone, as often as one likes', async () => {
  const place = await open();
  const kept = join(sshd.files, NAME);
  await place.put(NAME, source);
  expect(readFileSync(kept).equals(content)).toBe(true);
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  // Over what is there, as after a receipt that got lost.
  await place.put(NAME, source);
  const small = join(directory, 'small');
  writeFileSync(small, 'a few words');
  await place.put('small', { path: small, size: 11, sha256: '' });
  expect((await place.get('small')).toString()).toBe('a few words');
  await expect(place.get(NAME)).rejects.toThrow(/more than was put there/);
  // And what an attempt left that was cut off.
  writeFileSync(join(sshd.files, `.${NAME}.part`), 'half');
  for (const name of [NAME, NAME, 'small']) await place.remove(name);
  expect(readdirSync(sshd.files)).toEqual([]);
  await expect(place.get(NAME)).rejects.toThrow(/no directory .* or not that file in it/);
  await place.close();
  await expect(place.put(NAME, source)).rejects.toThrow(/closed here/);
  expect(opened()).not.toContain(path);
});

test('a host whose key is not known is told nothing, and its key is in the message', async () => {
  const other = `SHA256:${'A'.repeat(43)}`;
  const before = sshd.log();
  await expect(open({ hostKeys: [] })).rejects.toThrow(`shows the key ${sshd.fingerprint}`);
  const refused = open({ hostKeys: [other], privateKey: '', password: 'never sent' });
  await expect(refused).rejects.toThrow(`shows the key ${sshd.fingerprint}, but backup.copy_host_key is ${other}`);
  expect(sshd.log().slice(before.length)).not.toMatch(/Accepted|Failed/);
  // One of several, as while a key is changed.
  await (await open({ hostKeys: [other, sshd.fingerprint] })).close();
});

test('a directory that is not there is told', async () => {
  const missing = await open({}, `${sshd.url}/missing`);
  await expect(missing.put(NAME, source)).rejects.toThrow(`no directory ${sshd.files}/missing`);
  await missing.close();
});

test.skipIf(!isRoot)('a full disk is told, and nothing stays there', async () => {
  const full = join(sshd.files, 'full');
  mkdirSync(full);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', full]);
  const place = await open({}, `${sshd.url}/full`);
  try {
    await expect(place.put(NAME, source)).rejects.toThrow(/its disk may be full/);
    expect(readdirSync(full)).toEqual([]);
    await eventually(() => opened().includes(path)).toBe(false);
    // The connection goes on: the next one has room.
    const small = join(directory, 'small');
    writeFileSync(small, 'a few words');
    await place.put(NAME, { path: small, size: 11, sha256: '' });
    expect(readdirSync(full)).toEqual([NAME]);
  } finally {
    await place.close();
    execFileSync('umount', [full]);
  }
});

test('links that lie there are replaced, and what they lead to stays as it is', async () => {
  const victim = join(directory, 'victim');
  writeFileSync(victim, 'not ours');
  const laid = join(sshd.files, 'laid');
  mkdirSync(laid);
  for (const name of [`.${NAME}.part`, NAME]) symlinkSync(victim, join(laid, name));
  const place = await open({}, `${sshd.url}/laid`);
  await place.put(NAME, source);
  expect(readFileSync(victim, 'utf8')).toBe('not ours');
  expect(lstatSync(join(laid, NAME)).isFile()).toBe(true);
  expect(readFileSync(join(laid, NAME)).equals(content)).toBe(true);
  expect(readdirSync(laid)).toEqual([NAME]);
  await place.close();
});

test('who is not let in is told so, and a host that is not there as well', async () => {
  await expect(open({ privateKey: '', password: 'wrong' })).rejects.toThrow(`does not let ${sshd.user} in`);
  await expect(open({}, 'sftp://me@169.254.169.254/x')).rejects.toThrow(/metadata address/);
  await expect(open({}, 'sftp://me@[::ffff:169.254.169.254]/x')).rejects.toThrow(/metadata address/);
});
