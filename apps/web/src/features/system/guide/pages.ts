import type { Language } from '../../../i18n/index.ts';
import type { GuidePage } from './document.ts';

type Files = Readonly<Record<string, () => Promise<GuidePage>>>;

const nameOf = (file: string): string => /([^/]+)\.md$/.exec(file)?.[1] ?? file;

const byName = (files: Files) => new Map(Object.entries(files).map(([file, fetch]) => [nameOf(file), fetch]));

/** Fetches pages by their names; each is a file of its own, fetched when it is first looked at. */
const PAGES = {
  en: byName(
    import.meta.glob<GuidePage>(['/../../docs/guide/*.md', '/../../docs/{operations,limits,not-yet,performance}.md'], {
      import: 'default',
    }),
  ),
  de: byName(import.meta.glob<GuidePage>('/../../docs/guide/de/*.md', { import: 'default' })),
} as const satisfies Record<Language, ReadonlyMap<string, () => Promise<GuidePage>>>;

/** Where pictures of the pages are, by the names of their files; each is fetched when it comes into sight. */
const PICTURES = new Map(
  Object.entries(
    import.meta.glob<string>('/../../docs/pictures/*.png', { query: '?url', import: 'default', eager: true }),
  ).map(([file, address]) => [file.replace(/^.*\//, ''), address]),
);

/** Where a picture of a page is; undefined: there is none of this name. */
export const pictureAt = (name: string): string | undefined => PICTURES.get(name);

/** How a page is fetched in a language, or in English where there is none in it; undefined: there is none of this name. */
export const pageOf = (name: string, language: string) => {
  const translated = language === 'de' ? PAGES.de.get(name) : undefined;
  if (translated) return { language: 'de', fetch: translated };
  const fetch = PAGES.en.get(name);
  return fetch && { language: 'en', fetch };
};

/** Where a link of a page leads within the interface; undefined: to what is in the repository only. */
export const placeOf = (link: string, from: string): string | undefined => {
  const [file = '', heading] = link.split('#');
  const name = file === '' ? from : nameOf(file);
  if (!PAGES.en.has(name)) return undefined;
  return `/guide/${name}${heading === undefined ? '' : `#${heading}`}`;
};
