import { type DestinationStream, type Logger, pino } from 'pino';

/** Fields that hold a credential wherever they appear; their values never reach the log. */
const SECRETS = ['authorization', 'cookie', 'password', 'token', 'secret', 'key_sealed', 'pem'];

/** Makes the logger of a process: JSON lines on standard output, or where `destination` says. */
export const createLog = (name: string, level: string, destination: DestinationStream = pino.destination(1)): Logger =>
  pino(
    {
      name,
      level,
      redact: { paths: SECRETS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: '***' },
    },
    destination,
  );
