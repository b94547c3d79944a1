import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('the example of the README runs and prints what it says', () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
  const example = /```ts\n(.*?)```/s.exec(readme)![1]!;
  const promised = /^\/\/ (.*)$/m.exec(example)![1]!;
  // Beside the package, so that its name resolves.
  const folder = mkdtempSync(join(import.meta.dirname, 'readme-'));
  try {
    writeFileSync(join(folder, 'example.ts'), example);
    const printed = execFileSync(process.execPath, [join(folder, 'example.ts')], { encoding: 'utf8' });
    expect(printed.trim()).toBe(promised);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
