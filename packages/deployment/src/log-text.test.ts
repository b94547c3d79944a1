import { expect, onTestFinished, test, vi } from 'vitest';
import { createLog } from './log.ts';
import { logLineAsText } from './log-text.ts';

/** What a logger writes as text, without the time of now. */
const written = (write: (log: ReturnType<typeof createLog>) => void): string => {
  const lines: string[] = [];
  write(createLog('server', 'info', { write: (line) => void lines.push(logLineAsText(line)) }));
  return lines.join('').replaceAll(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}/gm, 'NOW');
};

test('writes time, level, process, message and fields in one line', () => {
  const text = written((log) => log.warn({ host: 'app.test', attempts: 2, said: 'no "thanks"' }, 'mail not sent'));
  expect(text).toBe('NOW  warn   server      mail not sent  host=app.test  attempts=2  said="no \\"thanks\\""\n');
});

test('names the child that a line of the supervisor is about', () => {
  expect(written((log) => log.child({ child: 'guard-0' }).error('failed'))).toBe('NOW  error  guard-0     failed\n');
});

test('shows the time of the machine', () => {
  const time = new Date(2026, 10, 21, 9, 5, 0).getTime();
  expect(logLineAsText(JSON.stringify({ level: 30, time, name: 'server', msg: 'there' }))).toBe(
    '2026-11-21 09:05:00  info   server      there\n',
  );
});

test('shows the time where the machine is, east and west', () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  const shown = (zone: string) => {
    vi.stubEnv('TZ', zone);
    return logLineAsText(JSON.stringify({ level: 30, time: 0, name: 'server', msg: 'there' })).slice(0, 19);
  };
  expect(shown('Asia/Tokyo')).toBe('1970-01-01 09:00:00');
  expect(shown('America/New_York')).toBe('1969-12-31 19:00:00');
});

test.each([
  [10, 'trace'],
  [20, 'debug'],
  [30, 'info '],
  [40, 'warn '],
  [50, 'error'],
  [60, 'fatal'],
])('calls level %i %s', (level, name) => {
  expect(logLineAsText(JSON.stringify({ level, time: 0, name: 'server', msg: 'm' }))).toContain(`  ${name}  server`);
});

test('shows an empty text, and an error that has nothing to say', () => {
  const line = { level: 40, time: 0, name: 'server', msg: 'm', said: '' };
  expect(logLineAsText(JSON.stringify(line))).toMatch(/ m {2}said=""\n$/);
  expect(logLineAsText(JSON.stringify({ ...line, err: {} }))).toMatch(/said="" {2}err=""\n$/);
  expect(logLineAsText(JSON.stringify({ ...line, level: 50, err: {} }))).toMatch(/said=""\n$/);
  expect(logLineAsText(JSON.stringify({ ...line, level: 50, err: { message: 'no stack' } }))).toMatch(
    /said=""\n {4}no stack\n$/,
  );
});

test('puts the stack of an error below, with its causes', () => {
  const err = new Error('cannot write', { cause: new Error('disk full') });
  const [first, second, ...rest] = written((log) => log.error({ err }, 'reconcile failed')).split('\n');
  expect(first).toBe('NOW  error  server      reconcile failed');
  expect(second).toBe('    Error: cannot write');
  expect(rest.join('\n')).toContain('\n    caused by: Error: disk full');
});

test('leaves the stack of a warning away, but not the reasons', () => {
  const err = new Error('cannot write', { cause: new Error('disk full') });
  expect(written((log) => log.warn({ err }, 'not kept'))).toBe(
    'NOW  warn   server      not kept  err="cannot write: disk full"\n',
  );
});

test('lets nothing through that a terminal would obey', () => {
  const hostile = '\u001b]0;owned\u0007\u202egnp\u009b2J';
  const text = written((log) => log.info({ uri: `/${hostile}`, list: [hostile] }, hostile));
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  expect(logLineAsText(`not JSON ${hostile}\n`)).toBe('not JSON \\u001b]0;owned\\u0007\\u202egnp\\u009b2J\n');
});

test('censors credentials as the JSON log does', () => {
  expect(written((log) => log.info({ password: 'sesame', request: { token: 'abc' } }, 'in'))).toBe(
    'NOW  info   server      in  password=***  request={"token":"***"}\n',
  );
});
