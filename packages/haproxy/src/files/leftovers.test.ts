import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { dataPlaneFiles } from '../config/layout.ts';
import { removeLeftovers } from './leftovers.ts';

const atomicFile = new URL('atomic-file.ts', import.meta.url).href;

/** Has a process killed in the middle of writing a file. */
const writeHalf = async (path: string): Promise<void> => {
  const program = `
    const { writeFileAtomically } = await import(${JSON.stringify(atomicFile)});
    function* chunks() { yield 'half'; process.kill(process.pid, 'SIGKILL'); }
    await writeFileAtomically(${JSON.stringify(path)}, chunks(), { durable: false });`;
  await once(spawn(process.execPath, ['--input-type=module', '-e', program]), 'exit');
};

test('what a process has left that was killed while it wrote is removed, and nothing else', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-leftovers-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const certificates = join(directory, dataPlaneFiles.certificateDirectory);
  await removeLeftovers(certificates);
  mkdirSync(certificates, { recursive: true });
  const ours = `hosts.map.${process.pid}.0123abcd.tmp`;
  const others = ['hosts.map', 'admin.sock.1.tmp', 'hosts.map.4194305.0123abcd.tmp.map'];
  for (const name of [ours, ...others]) writeFileSync(join(directory, name), '');
  await writeHalf(join(directory, 'hosts.map'));
  await writeHalf(join(certificates, '1.pem'));
  expect(readdirSync(certificates)).toHaveLength(1);

  await removeLeftovers(directory);
  expect(readdirSync(certificates)).toEqual([]);
  const kept = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile());
  expect(kept.map(({ name }) => name).toSorted()).toEqual([ours, ...others].toSorted());
});
