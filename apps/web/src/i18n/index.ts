import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';

export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof LANGUAGES;

/** Texts of a language, by namespace. */
export type Bundle = Readonly<Record<string, object>>;

const KEPT_UNDER = 'sallyport.language';

const isLanguage = (text: string | null | undefined): text is Language =>
  text != null && Object.hasOwn(LANGUAGES, text);

const wanted = (): Language => {
  const kept = localStorage.getItem(KEPT_UNDER);
  if (isLanguage(kept)) return kept;
  const own = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find(isLanguage);
  return own ?? 'en';
};

let fetchTexts: (language: Language) => Promise<Bundle>;

const load = async (language: Language): Promise<void> => {
  if (i18next.hasResourceBundle(language, 'common')) return;
  for (const [namespace, texts] of Object.entries(await fetchTexts(language))) {
    i18next.addResourceBundle(language, namespace, texts);
  }
};

/** Shows the interface in a language, now and when it is opened again in this browser. */
export const speak = async (language: Language): Promise<void> => {
  await load(language);
  localStorage.setItem(KEPT_UNDER, language);
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
};

/** Adds the texts of screens that come later than the page, in each language: they are fetched with their screens. */
export const addTexts = (namespace: string, texts: Readonly<Record<Language, object>>): void => {
  for (const [language, bundle] of Object.entries(texts)) i18next.addResourceBundle(language, namespace, bundle);
};

/**
 * Makes the texts ready, in the language that was chosen, or the browser's. `en`: the texts that are there from the beginning;
 * `fetchOthers` gets those of another language.
 */
export const startI18n = async (en: Bundle, fetchOthers: (language: Language) => Promise<Bundle>): Promise<void> => {
  fetchTexts = fetchOthers;
  const language = wanted();
  await i18next.use(initReactI18next).init({
    resources: { en: { ...en } },
    lng: 'en',
    fallbackLng: 'en',
    defaultNS: 'common',
    interpolation: { escapeValue: false },
    returnNull: false,
  });
  await load(language);
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
};
