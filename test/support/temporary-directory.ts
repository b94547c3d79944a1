import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs `work` with a fresh directory and removes it afterwards. */
export const withTemporaryDirectory = async (work: (path: string) => Promise<void>): Promise<void> => {
  const path = mkdtempSync(join(tmpdir(), 'sallyport-test-'));
  try {
    await work(path);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
};
