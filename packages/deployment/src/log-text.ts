/** One object as pino writes it; whatever else it holds is shown as `key=value`. */
interface LogLine {
  level: number;
  /** Milliseconds since 1970. */
  time: number;
  msg?: string;
  name?: string;
  /** The process that a line of the supervisor is about. */
  child?: string;
  err?: { message?: string; stack?: string };
  [field: string]: unknown;
}

const ERROR = 50;
const LEVELS: Readonly<Record<number, string>> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error' };

/** Local time, as a clock on the wall has it: `2026-11-21 09:05:00`. */
const clockTime = (time: number): string => {
  const date = new Date(time);
  return new Date(time - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19).replace('T', ' ');
};

/**
 * Escapes what a terminal would obey or show in another order: control characters, and those that turn the direction of
 * writing. Clients choose parts of what is logged.
 */
const printable = (text: string): string =>
  text.replaceAll(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const valueText = (value: unknown): string => {
  if (typeof value !== 'string') return printable(JSON.stringify(value));
  return printable(value === '' || /[\s"=]/.test(value) ? JSON.stringify(value) : value);
};

/**
 * Writes one JSON line of pino (ending in a newline) for people: time, level, process, message, fields. The stack of what
 * is logged as an error is indented below; of a warning the message is enough. What is not JSON comes back as it is, but for characters that a terminal would obey.
 */
export const logLineAsText = (json: string): string => {
  let line: LogLine;
  try {
    line = JSON.parse(json);
  } catch {
    return `${printable(json.trimEnd())}\n`;
  }
  const { level, time, msg = '', name = '', child, err, pid: _, hostname: __, ...fields } = line;
  const head = `${clockTime(time)}  ${(LEVELS[level] ?? 'fatal').padEnd(5)}  ${(child ?? name).padEnd(10)}`;
  const pairs = Object.entries(fields).map(([key, value]) => `${key}=${valueText(value)}`);
  if (err && level < ERROR) pairs.push(`err=${valueText(err.message ?? '')}`);
  const stack = err && level >= ERROR ? (err.stack ?? err.message ?? '') : '';
  const below = stack === '' ? '' : `\n    ${printable(stack.replaceAll('\n', '\n    '))}`;
  return `${[head, printable(msg), ...pairs].join('  ').trimEnd()}${below}\n`;
};
