import { statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { logSocket } from '@sallyport/deployment/places';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../../../../test/support/eventually.ts';
import { withTemporaryDirectory } from '../../../../../../test/support/temporary-directory.ts';
import { startLogIntake } from './log-intake.ts';

test('lines are taken whole however they come, and only from this user; one that never ends is not kept', () =>
  withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'run', 'log.sock');
    const lines: string[] = [];
    let invalid = 0;
    const intake = await startLogIntake({ path, onLine: (line) => lines.push(line), onInvalid: () => (invalid += 1) });
    onTestFinished(() => intake.stop());
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(directory, 'run')).mode & 0o777).toBe(0o700);
    const socket = connect(path);
    const [euro] = [Buffer.from('€')];
    socket.write('one\n\ntwo\nthr');
    await eventually(() => lines).toEqual(['one', 'two']);
    // A character that is cut in two is one again.
    socket.write(Buffer.concat([Buffer.from('ee '), euro.subarray(0, 1)]));
    socket.write(Buffer.concat([euro.subarray(1), Buffer.from('\nfour')]));
    await eventually(() => lines).toEqual(['one', 'two', 'three €']);
    socket.write(' and\nfive\n');
    await eventually(() => lines.slice(3)).toEqual(['four and', 'five']);
    let isClosed = false;
    socket.on('error', () => {}).on('close', () => (isClosed = true));
    socket.write('x'.repeat(300 * 1024));
    await eventually(() => isClosed).toBe(true);
    expect([invalid, lines.length]).toEqual([1, 5]);
  }));

test('who can not listen says so', () =>
  withTemporaryDirectory(async (directory) => {
    expect(logSocket('/data')).toBe('/data/run/log.sock');
    // Longer than a unix socket’s path may be.
    const path = join(directory, 'x'.repeat(200));
    await expect(startLogIntake({ path, onLine: () => {}, onInvalid: () => {} })).rejects.toThrow(/listen/);
  }));
