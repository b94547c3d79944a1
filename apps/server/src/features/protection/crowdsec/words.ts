/** What SQLite says of a database that can't be used, and CrowdSec of one that it was not made known to. */
const DAMAGE =
  /file is not a database|database disk image is malformed|authenticate watcher \(sallyport\): .*machine not found/;

/**
 * Whether what CrowdSec said means that its database can't be used. A full disk or missing rights are no damage. Whoever reaches its
 * local API can put words into its log: they count only when it ended of them, or answers nothing else than errors.
 */
export const isDamage = (said: string): boolean => DAMAGE.test(said);

const ABOUT_OUR_KEY = /while fetching bouncer info: /;

/** Whether it said that it could not look up our key, which it answers like a key that it does not know. */
export const isFailedLookUp = (said: string): boolean =>
  ABOUT_OUR_KEY.test(said) && !said.includes('not found') && !isDamage(said);

/** Whether it said anything of our key. */
export const isAboutOurKey = (said: string): boolean => ABOUT_OUR_KEY.test(said);

const message = (line: string): string => {
  const text = /\bmsg="((?:[^"\\]|\\.)*)"/.exec(line)?.[1] ?? line;
  return text.replaceAll('\\"', '"').slice(0, 500);
};

/** Its own words for what ended it: the last fatal line, else the last line at all. */
export const reasonIn = (lines: readonly string[]): string | undefined => {
  const told =
    lines.findLast(isDamage) ?? lines.findLast((line) => /level=(?:fatal|panic)|^panic:/.test(line)) ?? lines.at(-1);
  return told === undefined ? undefined : message(told);
};

const REFUSED = /while loading scenarios: .* in \S*\/scenarios\/([\w.-]+\.yaml) :/;

/** Name of the file of a scenario that it says it can't load; undefined when it says something else. */
export const refusedFile = (said: string): string | undefined => REFUSED.exec(said)?.[1];
