import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';

export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof LANGUAGES;

const KEPT_UNDER = 'sallyport.language';

const isLanguage = (text: string | null | undefined): text is Language =>
  text != null && Object.hasOwn(LANGUAGES, text);

const wanted = (): Language => {
  const kept = localStorage.getItem(KEPT_UNDER);
  if (isLanguage(kept)) return kept;
  const own = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find(isLanguage);
  return own ?? 'en';
};

/** Gets the texts of a namespace in a language. */
type FetchTexts<Namespace extends string> = (language: Language, namespace: Namespace) => Promise<object>;

/** How texts are fetched, once that is known: the first screen is asked for before. */
const fetching = Promise.withResolvers<FetchTexts<string>>();
let spoken: Language = 'en';
/** Namespaces that something was said of, or is about to be. */
const inUse = new Set<string>();

const isThere = (language: Language, namespace: string): boolean => i18next.hasResourceBundle(language, namespace);

const load = async (language: Language, namespaces: Iterable<string>): Promise<void> => {
  const fetchTexts = await fetching.promise;
  const missing = [...namespaces].filter((namespace) => !isThere(language, namespace));
  await Promise.all(
    missing.map(async (namespace) => {
      i18next.addResourceBundle(language, namespace, await fetchTexts(language, namespace));
    }),
  );
};

/** Makes the texts of a namespace ready, in whatever language is spoken by then. */
export const needTexts = async (namespace: string): Promise<void> => {
  await fetching.promise;
  inUse.add(namespace);
  while (!isThere(spoken, namespace)) await load(spoken, [namespace]);
};

const change = async (language: Language): Promise<void> => {
  while ([...inUse].some((namespace) => !isThere(language, namespace))) await load(language, inUse);
  spoken = language;
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
};

/** Shows the interface in a language, now and when it is opened again in this browser. */
export const speak = async (language: Language): Promise<void> => {
  await change(language);
  localStorage.setItem(KEPT_UNDER, language);
};

/** Adds the texts of screens that bring their own along, in each language. */
export const addTexts = (namespace: string, texts: Readonly<Record<Language, object>>): void => {
  for (const [language, bundle] of Object.entries(texts)) i18next.addResourceBundle(language, namespace, bundle);
};

/** Makes the first texts ready, in the language that was chosen, or the browser's. */
export const startI18n = async <Namespace extends string>(
  first: readonly Namespace[],
  fetchBy: FetchTexts<Namespace>,
): Promise<void> => {
  for (const namespace of first) inUse.add(namespace);
  await i18next.use(initReactI18next).init({
    resources: {},
    lng: 'en',
    fallbackLng: 'en',
    defaultNS: 'common',
    interpolation: { escapeValue: false },
    returnNull: false,
  });
  fetching.resolve(fetchBy as FetchTexts<string>);
  await change(wanted());
};
