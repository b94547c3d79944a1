import { refuse } from '@sallyport/store/errors';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const PART = /(\d{1,9})([smhdw])/gy;
/** Longer than anybody means; keeps every end within four-digit years, which sort as text. */
const MAX_MS = 100 * 365 * 86_400_000;

/** Parses `90s`, `15m`, `4h`, `7d`, `2w` or several of them (`1h30m`) into milliseconds. Throws a 400. */
export const parseDuration = (text: string): number => {
  let total = 0;
  let end = 0;
  for (const match of text.trim().matchAll(PART)) {
    total += Number(match[1]) * (UNIT_MS[match[2] as string] as number);
    end = match.index + match[0].length;
  }
  if (end === 0 || end !== text.trim().length) {
    throw refuse.invalid('duration must be a time such as 90s, 15m, 4h, 7d or 1h30m');
  }
  if (total <= 0) throw refuse.invalid('duration must be longer than nothing');
  if (total > MAX_MS) throw refuse.invalid('duration must be at most 100 years');
  return total;
};
