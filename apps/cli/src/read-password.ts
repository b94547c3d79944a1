import { randomBytes } from 'node:crypto';
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
const askHidden = async (terminal: ReadStream): Promise<string> => {
  terminal.setEncoding('utf8').setRawMode(true);
  // Not before: what is typed at once would show.
  process.stderr.write('Password: ');
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
