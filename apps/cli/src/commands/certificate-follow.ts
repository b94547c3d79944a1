import { setTimeout as delay } from 'node:timers/promises';
import type { Certificate } from '@sallyport/contract';
import type { CallApi } from '../call-api.ts';
import { CommandFailure } from '../failure.ts';
import { print, visible } from '../print.ts';

const POLL_MS = 500;
/** From its place in the store to the proxy it takes milliseconds, or as long as HAProxy takes to start. */
const MOST_LOOKS = 120;

/** What an authority said, and what happens next. */
const failureOf = ({ issue, problem, next_attempt_at, renew_after }: Certificate): string =>
  [
    issue ?? 'it could not be had',
    problem && `the authority said: ${problem.detail} (${problem.type})`,
    ...(problem?.subproblems ?? []).map(({ name, detail }) => `${name}: ${detail}`),
    // After an attempt that went well comes the next renewal, which mends nothing.
    next_attempt_at && next_attempt_at !== renew_after && `it is tried again at ${next_attempt_at}`,
  ]
    .filter((text) => text)
    .join('; ');

/**
 * Waits until the attempt after `before` has ended and the proxy serves what came of it, and tells each of its steps once to `say`.
 * Resolves with the certificate; throws a `CommandFailure` with the authority's words when it failed, or why the proxy lacks it.
 */
export const followAttempt = async (
  call: CallApi,
  id: number,
  before: Pick<Certificate, 'last_attempt_at'>,
  say: (line: string) => void = (line) => print(visible(line)),
): Promise<Certificate> => {
  const told = new Map<string, string>();
  let looks = 0;
  for (;;) {
    const certificate = await call<Certificate>('GET', `/certificates/${id}`);
    const { steps, last_attempt_at, status, applied } = certificate;
    for (const { name, status: reached, message } of steps) {
      const line = `${name}: ${reached}${message === '' ? '' : `: ${message}`}`;
      if (reached === 'waiting' || told.get(name) === line) continue;
      told.set(name, line);
      say(line);
    }
    if (last_attempt_at !== before.last_attempt_at) {
      const hasFailed = status !== 'valid' || steps.some((step) => step.status === 'failed');
      if (hasFailed || looks > MOST_LOOKS) throw new CommandFailure(visible(failureOf(certificate)));
      if (applied) return certificate;
      looks += 1;
    }
    await delay(POLL_MS);
  }
};
