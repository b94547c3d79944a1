import { readFileSync } from 'node:fs';
import { localAddress } from '@sallyport/deployment/listen';
import type { Command } from 'commander';
import { type AskApi, type CallApi, createAskApi, createCallApi } from './call-api.ts';
import { CommandFailure } from './failure.ts';
import { locate } from './instances.ts';

/** The text of a file, or of standard input for 0. Throws a `CommandFailure`. */
export const readText = (path: string | 0): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CommandFailure((error as Error).message);
  }
};

/** Adds the flag by which a command that asks the running service gets a credential. */
export const withTokenFile = (command: Command, why = 'where the API takes one on this host, too'): Command =>
  command.option('--token-file <path>', `an API token of an administrator, ${why}`);

/** Origin of the API of the instance that is meant. */
export const apiOrigin = (command: Command): string => `http://${localAddress(locate(command).config.httpBind)}`;

const tokenOf = (command: Command): string | undefined => {
  // A flag that the command above has as well is read there.
  const { tokenFile } = command.optsWithGlobals<{ tokenFile?: string }>();
  return tokenFile === undefined ? undefined : readText(tokenFile).trim();
};

/** Asks the running service with the token that `withTokenFile` names, for texts. */
export const askRunning = (command: Command): AskApi => createAskApi(apiOrigin(command), tokenOf(command));

/** The same for JSON. */
export const callRunning = (command: Command): CallApi => createCallApi(apiOrigin(command), tokenOf(command));
