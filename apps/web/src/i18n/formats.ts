import i18next from 'i18next';

/** The language that is spoken, as the reader's browser has it where it does: in British English the day comes before the month. */
const language = (): string => {
  const spoken = i18next.resolvedLanguage ?? 'en';
  return navigator.languages.find((tag) => tag === spoken || tag.startsWith(`${spoken}-`)) ?? spoken;
};

/** Makes something of a language once: the browser takes longer to make a format than to use it a hundred times. */
const perLanguage = <T>(make: (language: string) => T): (() => T) => {
  const made = new Map<string, T>();
  return () => {
    const known = made.get(language());
    if (known !== undefined) return known;
    const one = make(language());
    made.set(language(), one);
    return one;
  };
};

const momentFormat = perLanguage((of) => new Intl.DateTimeFormat(of, { dateStyle: 'medium', timeStyle: 'short' }));
const distanceFormat = perLanguage((of) => new Intl.RelativeTimeFormat(of, { numeric: 'auto' }));
const numberFormat = perLanguage((of) => new Intl.NumberFormat(of));
const clockFormat = perLanguage(
  (of) => new Intl.DateTimeFormat(of, { hour: '2-digit', minute: '2-digit', second: '2-digit' }),
);

/** A moment by the conventions of the language, to the minute. */
export const formatMoment = (iso: string): string => momentFormat().format(new Date(iso));

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

/** How far a moment is from now: `3 hours ago`, `in 20 days`. */
export const formatDistance = (iso: string, now = Date.now()): string => {
  const seconds = (Date.parse(iso) - now) / 1_000;
  const [unit, length] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  return distanceFormat().format(Math.round(seconds / length), unit);
};

export const formatNumber = (value: number, options?: Intl.NumberFormatOptions): string =>
  (options ? new Intl.NumberFormat(language(), options) : numberFormat()).format(value);

/** The time of the day to the second, for what happens while one looks. */
export const formatClock = (iso: string): string => clockFormat().format(new Date(iso));

/** The time of the day to the minute. */
export const formatTime = (moment: Date): string =>
  moment.toLocaleTimeString(language(), { hour: '2-digit', minute: '2-digit' });

/** A day of the year, short. */
export const formatDay = (moment: Date): string =>
  moment.toLocaleDateString(language(), { day: 'numeric', month: 'short' });
