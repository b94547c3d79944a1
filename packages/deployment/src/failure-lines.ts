import { ConfigError } from './config.ts';

/** Whether the world around is at fault: a file, the database, the network. Bugs have no code, or one of Node's own. */
const isFaultOutside = (error: Error): boolean => {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && !code.startsWith('ERR_');
};

/** What ended a program, as lines that a person can act on; a bug keeps its stack. */
export const failureLines = (error: unknown): readonly string[] => {
  if (error instanceof ConfigError) return error.problems;
  if (!(error instanceof Error)) return [String(error)];
  // Refusals of the service are meant for callers.
  if (error.name === 'Refusal') return [error.message];
  if (error.name === 'SqliteError') return [`the store can not be used: ${error.message}`];
  if (isFaultOutside(error)) return [error.message];
  return [error.stack ?? error.message];
};
