import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { CommandFailure } from './failure.ts';

export interface ChosenPassword {
  password: string;
  /** Made here, so it has to be shown once. */
  isGenerated: boolean;
}

/**
 * Takes the password from standard input, or makes one of 120 random bits. Never from the command line, which every
 * user of the machine can read.
 */
export const choosePassword = async (fromStdin: boolean): Promise<ChosenPassword> => {
  if (!fromStdin) return { password: randomBytes(15).toString('base64url'), isGenerated: true };
  const password = (await text(process.stdin)).replace(/\r?\n$/, '');
  if (password === '') throw new CommandFailure('standard input holds no password');
  if (/[\r\n]/.test(password)) throw new CommandFailure('standard input holds more than one line');
  return { password, isGenerated: false };
};
