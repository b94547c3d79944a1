import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { dataPlaneFiles } from '../config/layout.ts';
import { readInstance } from './instance.ts';

test('a deployment is named once; what is no name is replaced by one', () =>
  withTemporaryDirectory(async (directory) => {
    const file = join(directory, dataPlaneFiles.instance);
    const name = await readInstance(directory);
    expect(name).toMatch(/^[0-9a-f]{16}$/);
    expect(readFileSync(file, 'utf8')).toBe(`${name}\n`);
    expect(await readInstance(directory)).toBe(name);
    for (const wrong of ['', `0${name}`, `${name}0`, `${name}\n  bind :1`, name.toUpperCase().replace(/\d/g, 'A')]) {
      writeFileSync(file, wrong);
      const next = await readInstance(directory);
      expect(next).toMatch(/^[0-9a-f]{16}$/);
      expect(next).not.toBe(name);
    }
  }));
