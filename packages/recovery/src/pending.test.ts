import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { openPendingNote, pendingResets, settle } from './pending.ts';

const [MOMENT, LATER] = ['2026-05-02T12:00:00.123Z', '2026-05-02T12:00:01.000Z'];

test('a note is for nobody else, and has its room from the beginning', () =>
  withTemporaryDirectory(async (dataDir) => {
    const note = openPendingNote(dataDir, 'server');
    const path = join(dataDir, 'emergency', 'server.pending');
    const modes = [join(dataDir, 'emergency'), path].map((name) => statSync(name).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600]);
    for (const text of ['', MOMENT, 'x'.repeat(1_000), '']) {
      note.write(text);
      expect(statSync(path).size).toBe(512);
    }
    expect(note.read()).toBe('');
    note.close();
  }));

test('what was asked for outlives the process, however it is opened again', () =>
  withTemporaryDirectory(async (dataDir) => {
    const note = openPendingNote(dataDir, 'server');
    note.write(MOMENT);
    note.close();
    const again = openPendingNote(dataDir, 'server');
    expect(again.read()).toBe(MOMENT);
    again.write('');
    expect(readFileSync(join(dataDir, 'emergency', 'server.pending'), 'utf8')).toBe(' '.repeat(512));
    again.close();
  }));

test('a note that is shorter than one, or longer, is one of its size when it is opened', () =>
  withTemporaryDirectory(async (dataDir) => {
    mkdirSync(join(dataDir, 'emergency'));
    const path = join(dataDir, 'emergency', 'server.pending');
    for (const text of ['', '\0'.repeat(4_096), 'x'.repeat(2_000), `${MOMENT} `]) {
      writeFileSync(path, text);
      openPendingNote(dataDir, 'server').close();
      expect(statSync(path).size).toBe(512);
    }
    expect(pendingResets(dataDir)).toEqual([{ path, moment: MOMENT }]);
  }));

test('all that are not stored are found, of whichever process, and nothing else', () =>
  withTemporaryDirectory(async (dataDir) => {
    expect(pendingResets(dataDir)).toEqual([]);
    const [server, emergency] = ['server', 'emergency'].map((name) => openPendingNote(dataDir, name));
    server?.write(MOMENT);
    writeFileSync(join(dataDir, 'emergency', 'other.txt'), MOMENT);
    writeFileSync(join(dataDir, 'emergency', 'more.pending'), `${MOMENT}\n${LATER}`);
    writeFileSync(join(dataDir, 'emergency', 'before.pending'), `x${MOMENT}`);
    const found = [{ path: join(dataDir, 'emergency', 'server.pending'), moment: MOMENT }];
    expect(pendingResets(dataDir)).toEqual(found);
    expect(emergency?.all()).toEqual(found);
    for (const note of [server, emergency]) note?.close();
  }));

test('what is settled is what was stored: one that was asked for since stays', () =>
  withTemporaryDirectory(async (dataDir) => {
    const note = openPendingNote(dataDir, 'server');
    note.write(MOMENT);
    const [pending] = pendingResets(dataDir);
    if (!pending) throw new Error('nothing is pending');
    note.write(LATER);
    settle(pending);
    expect(note.read()).toBe(LATER);
    settle({ ...pending, moment: LATER });
    expect(note.read()).toBe('');
    note.close();
    // One whose file is gone is settled as well.
    settle({ path: join(dataDir, 'emergency', 'gone.pending'), moment: MOMENT });
  }));
