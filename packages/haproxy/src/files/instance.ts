import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dataPlaneFiles, inDirectory } from '../config/layout.ts';
import { writeFileAtomically } from './atomic-file.ts';

const shape = /^[0-9a-f]{16}$/;

/**
 * The random name by which this deployment knows requests that it has already passed on: 16 hexadecimal digits, made once
 * and kept in the data plane's directory. It is no secret: origins see it.
 */
export const readInstance = async (directory: string): Promise<string> => {
  const file = inDirectory(directory, dataPlaneFiles.instance);
  const kept = await readFile(file, 'utf8').catch(() => '');
  if (shape.test(kept.trim())) return kept.trim();
  const made = randomBytes(8).toString('hex');
  await writeFileAtomically(file, [`${made}\n`], { durable: true });
  return made;
};
