import { createInterface } from 'node:readline/promises';

/** Asks a question at the terminal; false without one, where nobody can answer. */
export const askYes = async (question: string): Promise<boolean> => {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
};
