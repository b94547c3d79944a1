import i18next from 'i18next';

const language = (): string => i18next.resolvedLanguage ?? 'en';

/** A moment by the conventions of the language, to the minute. */
export const formatMoment = (iso: string): string =>
  new Intl.DateTimeFormat(language(), { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(iso));

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
  return new Intl.RelativeTimeFormat(language(), { numeric: 'auto' }).format(Math.round(seconds / length), unit);
};

export const formatNumber = (value: number, options?: Intl.NumberFormatOptions): string =>
  new Intl.NumberFormat(language(), options).format(value);

/** The time of the day to the second, for what happens while one looks. */
export const formatClock = (iso: string): string =>
  new Date(iso).toLocaleTimeString(language(), { hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** The time of the day to the minute. */
export const formatTime = (moment: Date): string =>
  moment.toLocaleTimeString(language(), { hour: '2-digit', minute: '2-digit' });

/** A day of the year, short. */
export const formatDay = (moment: Date): string =>
  moment.toLocaleDateString(language(), { day: 'numeric', month: 'short' });
