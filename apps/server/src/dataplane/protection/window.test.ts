import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { windowFile } from '@sallyport/deployment/places';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../../test/support/temporary-directory.ts';
import { readWindow, writeWindow } from './window.ts';

test('the window is kept, and one minute where none was', () =>
  withTemporaryDirectory(async (dataDir) => {
    mkdirSync(dirname(windowFile(dataDir)), { recursive: true });
    expect(readWindow(dataDir)).toBe(60);
    for (const seconds of [1, 3_600, 86_400]) {
      await writeWindow(dataDir, seconds);
      expect(readWindow(dataDir)).toBe(seconds);
    }
    // Whatever else the file holds is no window that HAProxy could be started with.
    for (const text of ['0', '-1', '1.5', '86401', 'nonsense', '']) {
      writeFileSync(windowFile(dataDir), text);
      expect(readWindow(dataDir)).toBe(60);
    }
  }));

test('a window that can not be read is not taken for none', () =>
  withTemporaryDirectory(async (dataDir) => {
    mkdirSync(windowFile(dataDir), { recursive: true });
    expect(() => readWindow(dataDir)).toThrow('EISDIR');
  }));
