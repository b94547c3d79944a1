import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** Builds the web interface as bin/up does, unless the last build is newer than every source. Throws what the build said. */
export default (): void => {
  const script = `root=${JSON.stringify(ROOT)}; . "$root/bin/lib/setup.sh"; ensure_web`;
  const { status, stderr } = spawnSync('sh', ['-euc', script], { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
};
