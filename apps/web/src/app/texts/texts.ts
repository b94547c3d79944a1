import type { accounts } from '../../features/accounts/texts.en.ts';
import type { protection } from '../../features/protection/texts.en.ts';
import type { system } from '../../features/system/texts.en.ts';
import type { traffic } from '../../features/traffic/texts.en.ts';
import type { Language } from '../../i18n/index.ts';
import type { Texts } from '../../i18n/texts.ts';
import { common, views } from './common.en.ts';

/** Everything the interface says in English, by namespace: the frame's, and one for each neighbourhood. */
export interface English {
  common: typeof common;
  views: typeof views;
  accounts: typeof accounts;
  protection: typeof protection;
  system: typeof system;
  traffic: typeof traffic;
}
export type Namespace = keyof English;

type Fetched = { readonly [Name in Namespace]: () => Promise<Texts<English[Name]>> };

// The frame's are there from the beginning; the rest comes with the screens that say it.
const en: Fetched = {
  common: async () => common,
  views: async () => views,
  accounts: async () => (await import('../../features/accounts/texts.en.ts')).accounts,
  protection: async () => (await import('../../features/protection/texts.en.ts')).protection,
  system: async () => (await import('../../features/system/texts.en.ts')).system,
  traffic: async () => (await import('../../features/traffic/texts.en.ts')).traffic,
};

const de: Fetched = {
  common: async () => (await import('./common.de.ts')).common,
  views: async () => (await import('./common.de.ts')).views,
  accounts: async () => (await import('../../features/accounts/texts.de.ts')).accounts,
  protection: async () => (await import('../../features/protection/texts.de.ts')).protection,
  system: async () => (await import('../../features/system/texts.de.ts')).system,
  traffic: async () => (await import('../../features/traffic/texts.de.ts')).traffic,
};

const TEXTS: Readonly<Record<Language, Fetched>> = { en, de };

/** The texts of a namespace in a language. */
export const fetchTexts = (language: Language, namespace: Namespace): Promise<object> => TEXTS[language][namespace]();
