import { chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownCountryDatabase } from '@sallyport/access/country-database';
import { expect, test } from 'vitest';
import { isRoot } from '../../../../test/support/is-root.ts';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { discard, keepAs, openDraft, removeDrafts, stampOf, writeWhole } from './files.ts';
import { COUNTRY_FILE } from './make-backup.ts';
import { isBackupName, kindOf, newName } from './names.ts';
import { readNote, removeLostNotes, removeNote, writeNote } from './notes.ts';
import { createQueue } from './one-at-a-time.ts';
import { putFiles } from './put-files.ts';
import { createReceipts } from './receipts.ts';

const SHA = 'a'.repeat(64);
const AT = new Date('2026-11-22T05:00:00.123Z');
const nameAt = (day: string) => `sallyport-202611${day}-050000-manual-0a1b2c.backup`;

test('a backup is named by its moment and kind, and nothing else passes for a name', () => {
  const name = newName('scheduled', AT);
  expect(name).toMatch(/^sallyport-20261122-050000-scheduled-[0-9a-f]{6}\.backup$/);
  expect([isBackupName(name), kindOf(name), newName('scheduled', AT) === name]).toEqual([true, 'scheduled', false]);
  for (const other of [`x${name}`, `${name}x`, `../${name}`, name.replace('scheduled', 'other'), `${name}\n`, '']) {
    expect([other, isBackupName(other), kindOf(other)]).toEqual([other, false, undefined]);
  }
});

test('a draft is for nobody else, gets its name whole, and leaves nothing behind', () =>
  withTemporaryDirectory(async (dataDir) => {
    const directory = join(dataDir, 'backups');
    mkdirSync(directory);
    const draft = await openDraft(directory);
    expect(statSync(draft.path).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory).filter((name) => !name.startsWith('.'))).toEqual([]);
    await draft.file.writeFile('all of it');
    await keepAs(draft, directory, 'kept');
    await discard(draft);
    expect(readdirSync(directory)).toEqual(['kept']);
    await discard(await openDraft(directory));
    await writeWhole(directory, 'kept', 'something else');
    expect([readdirSync(directory), readFileSync(join(directory, 'kept'), 'utf8')]).toEqual([
      ['kept'],
      'something else',
    ]);
    // What can not get its name is removed, and what was there stays.
    mkdirSync(join(directory, 'taken'));
    await expect(writeWhole(directory, 'taken', 'x')).rejects.toThrow();
    expect(readdirSync(directory).sort()).toEqual(['kept', 'taken']);
  }));

test('drafts of processes that have ended are removed, and nothing else', () =>
  withTemporaryDirectory(async (directory) => {
    const draftOf = (pid: number) => `.${pid}-0123456789ab.draft`;
    const [ours, ended, living] = [draftOf(process.pid), draftOf(999_999_999), draftOf(1)];
    const others = [
      '.draft',
      `x${draftOf(999_999_999)}`,
      `${draftOf(999_999_999)}.backup`,
      '.5-0123456789a.draft',
      nameAt('22'),
    ];
    for (const name of [ours, ended, living, ...others]) writeFileSync(join(directory, name), '');
    await removeDrafts(directory);
    expect(readdirSync(directory).sort()).toEqual([living, ...others].sort());
  }));

test('the stamp of a file tells when it is another, or holds something else', () =>
  withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'a');
    writeFileSync(path, '1');
    const before = await stampOf(path);
    expect(await stampOf(path)).toBe(before);
    await writeWhole(directory, 'a', '1');
    const replaced = await stampOf(path);
    expect(replaced).not.toBe(before);
    writeFileSync(path, '12');
    expect(await stampOf(path)).not.toBe(replaced);
  }));

test('a note is read as it was written, and as none where it is broken; it goes with its backup', () =>
  withTemporaryDirectory(async (directory) => {
    const name = nameAt('22');
    const note = { stamp: 's', sha256: SHA, verified_at: AT.toISOString() };
    for (const one of [note, { ...note, verified_at: null }]) {
      await writeNote(directory, name, one);
      expect(await readNote(directory, name)).toEqual(one);
    }
    for (const broken of [
      '{',
      'null',
      '5',
      ...[{ stamp: 1 }, { sha256: 'x' }, { sha256: `${SHA}a` }, { verified_at: 'soon' }, { verified_at: 5 }].map(
        (part) => JSON.stringify({ ...note, ...part }),
      ),
    ]) {
      writeFileSync(join(directory, `${name}.note`), broken);
      expect([broken, await readNote(directory, name)]).toEqual([broken, undefined]);
    }
    writeFileSync(join(directory, name), '');
    await writeNote(directory, nameAt('21'), note);
    await removeLostNotes(directory);
    expect(readdirSync(directory).sort()).toEqual([name, `${name}.note`]);
    await removeNote(directory, name);
    await removeNote(directory, name);
    expect(readdirSync(directory)).toEqual([name]);
  }));

const allOf = async <T>(given: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const one of given) all.push(one);
  return all;
};

test('receipts are those of their place, newest first; what was only begun is no copy', () =>
  withTemporaryDirectory(async (dataDir) => {
    const receipts = createReceipts(dataDir);
    expect(await receipts.newest('s3')).toBeUndefined();
    const receipt = (day: string, to: string, copied_at: string | null) => ({ name: nameAt(day), to, copied_at });
    const [first, second] = [receipt('20', 's3', AT.toISOString()), receipt('21', 's3', AT.toISOString())];
    const [begun, elsewhere] = [receipt('22', 's3', null), receipt('23', 'sftp', AT.toISOString())];
    for (const one of [second, first, begun, elsewhere]) await receipts.write(one);
    expect(statSync(join(dataDir, 'backups')).mode & 0o777).toBe(0o700);
    for (const [name, text] of [
      [`${first.name}.note`, '{}'],
      ['x.copy', '{}'],
      [`${nameAt('24')}.copy`, '{'],
      [`${nameAt('25')}.copy`, '{"to":"s3","copied_at":"soon"}'],
    ] as const) {
      writeFileSync(join(dataDir, 'backups', name), text);
    }
    expect(await allOf(receipts.of('s3'))).toEqual([begun, second, first]);
    expect(await allOf(receipts.of('s3', (name) => name === first.name))).toEqual([first]);
    expect(await receipts.newest('s3')).toEqual(second);
    expect([await receipts.read(begun.name), await receipts.read(nameAt('19'))]).toEqual([begun, undefined]);
    await receipts.remove(second.name);
    expect(await receipts.newest('s3')).toEqual(first);
  }));

test('files of a backup are put where there are none, whole or not at all, and no others', () =>
  withTemporaryDirectory(async (dataDir) => {
    const path = ownCountryDatabase(dataDir);
    const archiveOf = (name: string, content: () => AsyncGenerator<Buffer>) => ({
      files: () => [{ name, content: content() }],
    });
    async function* broken() {
      yield Buffer.from('half');
      throw new Error('the backup is damaged');
    }
    async function* whole() {
      yield Buffer.from('who');
      yield Buffer.from('le');
    }
    expect(await putFiles(archiveOf('other', whole), dataDir)).toEqual([]);
    await expect(putFiles(archiveOf(COUNTRY_FILE, broken), dataDir)).rejects.toThrow('damaged');
    expect(readdirSync(join(path, '..'))).toEqual([]);
    expect(await putFiles(archiveOf(COUNTRY_FILE, whole), dataDir)).toEqual([COUNTRY_FILE]);
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['whole', 0o600]);
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
    writeFileSync(path, 'newer');
    expect(await putFiles(archiveOf(COUNTRY_FILE, whole), dataDir)).toEqual([]);
    expect(readFileSync(path, 'utf8')).toBe('newer');
  }));

test('work is done one after another, whatever became of what was before', async () => {
  const queue = createQueue();
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = queue.run(async () => {
    await gate.promise;
    order.push('first');
    throw new Error('failed');
  });
  const second = queue.run(async () => {
    order.push('second');
    return 2;
  });
  expect([queue.waiting(), order]).toEqual([2, []]);
  gate.resolve();
  await expect(first).rejects.toThrow('failed');
  expect([await second, order, queue.waiting()]).toEqual([2, ['first', 'second'], 0]);
});

test.runIf(isRoot)('what is put belongs to whom the data directory belongs to', () =>
  withTemporaryDirectory(async (dataDir) => {
    chownSync(dataDir, 65_534, 65_534);
    async function* content() {
      yield Buffer.from('whole');
    }
    await putFiles({ files: () => [{ name: COUNTRY_FILE, content: content() }] }, dataDir);
    await createReceipts(dataDir).write({ name: nameAt('20'), to: 's3', copied_at: null });
    const path = ownCountryDatabase(dataDir);
    const made = [path, join(path, '..'), join(dataDir, 'backups'), join(dataDir, 'backups', `${nameAt('20')}.copy`)];
    expect(made.map((one) => statSync(one).uid)).toEqual(made.map(() => 65_534));
  }),
);
