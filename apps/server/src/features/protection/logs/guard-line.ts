import { GuardMessage } from '@sallyport/contract';
import { compileCheck } from '@sallyport/contract/check';

const check = compileCheck(GuardMessage);

/** Timestamps are checked as strings by the schema; an impossible date would break whoever sorts by it. */
const hasTime = (message: GuardMessage): boolean =>
  message.type === 'counters' || !Number.isNaN(Date.parse(message.timestamp));

/** Reads one line of a guard; undefined when it is not a `GuardMessage`. */
export const parseGuardLine = (line: string): GuardMessage | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  return check.accepts(value) && hasTime(value) ? value : undefined;
};
