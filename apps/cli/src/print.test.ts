import { expect, onTestFinished, test, vi } from 'vitest';
import { printTable } from './print.ts';

test('a table may have as many lines as ten thousand sites have warnings', () => {
  let lines = 0;
  const write = vi.spyOn(process.stdout, 'write').mockImplementation(() => {
    lines += 1;
    return true;
  });
  // Whatever comes of it: the tests after this one share the process.
  onTestFinished(() => write.mockRestore());
  const row = ['Caddyfile:1', 'not taken over'];
  printTable(['at', 'what'], Array(300_000).fill(row));
  expect(lines).toBe(300_001);
});
