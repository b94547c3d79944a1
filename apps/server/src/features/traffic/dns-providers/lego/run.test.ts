import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isRoot } from '../../../../../../../test/support/is-root.ts';
import { readAccountKey, recordValue } from './account-key.ts';
import { runLego } from './run.ts';

const tryLego = (program: string, directory: string): Promise<unknown> => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const accountKeyPem = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
  const value = recordValue('token', readAccountKey(accountKeyPem));
  return runLego({
    program,
    type: { code: 'exec', name: 'Any', fields: [], fileKeys: [], pollingKey: undefined, isSequential: false },
    access: { type: 'exec', fields: {}, secrets: {} },
    challenges: [{ domain: 'a.test', token: 'token', value }],
    accountKeyPem,
    resolvers: [],
    directory,
    signal: new AbortController().signal,
  });
};

const givenDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-lego-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
};

test('one that can not be started is told with what to do, and leaves nothing behind', async () => {
  const directory = givenDirectory();
  const file = join(givenDirectory(), 'no-program');
  writeFileSync(file, 'no program', { mode: 0o600 });
  for (const [program, where, why] of [
    [file, directory, /EACCES/],
    [`${file}-gone`, directory, /ENOENT/],
    ['/usr/bin/true', join(file, 'below'), /ENOTDIR/],
  ] as const) {
    await expect(tryLego(program, where)).rejects.toMatchObject({
      name: 'DnsWriteFailed',
      message: expect.stringMatching(
        /^lego \(exec\) could not be started: .* – see that it may be run, and that its directory can be written$/,
      ),
      cause: expect.objectContaining({ message: expect.stringMatching(why) }),
    });
  }
  expect(readdirSync(directory)).toEqual([]);
});

test.skipIf(!isRoot)('on a full disk it is told that there is no room, and nothing is left behind', async () => {
  const directory = givenDirectory();
  // Room for one directory, and for nothing in it.
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'nr_inodes=2', 'tmpfs', directory]);
  try {
    await expect(tryLego('/usr/bin/true', directory)).rejects.toMatchObject({
      name: 'DnsWriteFailed',
      message: expect.stringMatching(/ENOSPC.* – make room on the disk of the data directory$/),
    });
    expect(readdirSync(directory)).toEqual([]);
  } finally {
    execFileSync('umount', [directory]);
  }
});
