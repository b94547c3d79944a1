import { readFileSync } from 'node:fs';
import { windowFile } from '@sallyport/deployment/places';
import { writeFileAtomically } from '@sallyport/haproxy';

const DEFAULT_WINDOW_SEC = 60;
const LONGEST_WINDOW_SEC = 86_400;

/** The window that haproxy.cfg was or will be written with. */
export const readWindow = (dataDir: string): number => {
  try {
    const seconds = Number(readFileSync(windowFile(dataDir), 'utf8'));
    if (Number.isInteger(seconds) && seconds >= 1 && seconds <= LONGEST_WINDOW_SEC) return seconds;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return DEFAULT_WINDOW_SEC;
};

/** Keeps the window for the next time that haproxy.cfg is written. */
export const writeWindow = (dataDir: string, seconds: number): Promise<void> =>
  writeFileAtomically(windowFile(dataDir), [`${seconds}\n`], { durable: true });
