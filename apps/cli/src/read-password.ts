import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { ReadStream } from 'node:tty';
import { CommandFailure } from './failure.ts';

export interface ChosenPassword {
  password: string;
  /** Made here, so it has to be shown once. */
  isGenerated: boolean;
}

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const ERASE = new Set(['\u0008', '\u007f']);

/** Asks at a terminal, which shows nothing of what is typed. Throws a `CommandFailure` for Ctrl-C. */
const askHidden = async (terminal: ReadStream, what = 'Password'): Promise<string> => {
  terminal.setEncoding('utf8').setRawMode(true);
  // Not before: what is typed at once would show.
  process.stderr.write(`${what}: `);
  const typed: string[] = [];
  try {
    for await (const chunk of terminal) {
      for (const key of chunk as string) {
        if (key === CTRL_C) throw new CommandFailure('cancelled', 130);
        if (key === '\r' || key === '\n' || key === CTRL_D) return typed.join('');
        if (ERASE.has(key)) typed.pop();
        else typed.push(key);
      }
    }
    return typed.join('');
  } finally {
    terminal.setRawMode(false);
    process.stderr.write('\n');
  }
};

/**
 * Takes the password from standard input, or makes one of 120 random bits. Never from the command line, which every
 * user of the machine can read.
 */
export const choosePassword = async (fromStdin: boolean): Promise<ChosenPassword> => {
  if (!fromStdin) return { password: randomBytes(15).toString('base64url'), isGenerated: true };
  const { stdin } = process;
  const password = stdin.isTTY ? await askHidden(stdin) : (await text(stdin)).replace(/\r?\n$/, '');
  if (password === '') throw new CommandFailure('standard input holds no password');
  if (/[\r\n]/.test(password)) throw new CommandFailure('standard input holds more than one line');
  return { password, isGenerated: false };
};

/**
 * Reads a passphrase from a file, or with `-` from standard input: at a terminal nothing of what is typed shows. Undefined
 * without a path.
 */
export const readPassphrase = async (path: string | undefined): Promise<string | undefined> => {
  if (path === undefined) return undefined;
  const { stdin } = process;
  const isTyped = path === '-' && stdin.isTTY;
  const read = () => (path === '-' ? text(stdin) : readFile(path, 'utf8'));
  const passphrase = isTyped ? await askHidden(stdin, 'Passphrase') : (await read()).replace(/\r?\n$/, '');
  if (passphrase === '') throw new CommandFailure('the passphrase is empty');
  return passphrase;
};
