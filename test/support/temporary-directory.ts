import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs `work` with a fresh directory and removes it afterwards; resolves to what that made. */
export const withTemporaryDirectory = async <T>(work: (path: string) => Promise<T>): Promise<T> => {
  const path = mkdtempSync(join(tmpdir(), 'sallyport-test-'));
  try {
    return await work(path);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
};
