import { type DestinationStream, type Logger, pino } from 'pino';
import { logLineAsText } from './log-text.ts';
import { createStandardOutput } from './standard-output.ts';

/** `text`: for people, see `logLineAsText`. `json`: pino's objects, one a line. */
export type LogFormat = 'text' | 'json';

/** Fields that hold a credential wherever they appear; their values never reach the log. */
const SECRETS = ['authorization', 'cookie', 'password', 'passphrase', 'token', 'secret', 'key_sealed', 'pem'];

/** Standard output for a log in `format`. */
export const logOutput = (format: LogFormat): DestinationStream => {
  const output = createStandardOutput();
  if (format === 'json') return output;
  return { write: (line) => output.write(logLineAsText(line)) };
};

/** Makes the logger of a process; `destination` gets JSON lines. */
export const createLog = (name: string, level: string, destination: DestinationStream = logOutput('json')): Logger =>
  pino(
    {
      name,
      level,
      redact: { paths: SECRETS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: '***' },
    },
    destination,
  );
