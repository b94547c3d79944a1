import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import type { GuidePage } from './src/features/system/guide/document.ts';
import { readPage } from './src/features/system/guide/read-page.ts';
import { asOriginal, idsBetween } from './src/features/system/guide/translation.ts';

const DOCS = new URL('../../docs/', import.meta.url);
const GERMAN = new URL('guide/de/', DOCS);

/** Files of `docs` that the interface shows, in English. */
export const GUIDE_FILES: readonly string[] = [
  ...readdirSync(new URL('guide/', DOCS))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `guide/${file}`),
  ...['operations.md', 'limits.md', 'not-yet.md', 'performance.md'],
];

const nameOf = (file: string): string => file.replace(/^.*\//, '').replace(/\.md$/, '');

const read = (file: URL): GuidePage => readPage(readFileSync(file, 'utf8'));

/** Of which file a German one is the translation; undefined: it is none. */
const originalOf = (file: URL): URL | undefined => {
  const name = nameOf(file.pathname);
  const original = GUIDE_FILES.find((one) => nameOf(one) === name);
  return file.href === new URL(`${name}.md`, GERMAN).href && original !== undefined
    ? new URL(original, DOCS)
    : undefined;
};

/** Leads the links of a translated file by the headings of originals. */
const leadFrom = (file: URL): ((to: string) => string) => {
  const known = new Map<string, ReadonlyMap<string, string>>();
  return (to) => {
    const [path = '', id] = to.split('#');
    if (id === undefined || /^[a-z]+:/.test(to)) return to;
    const target = path === '' ? file : new URL(path, file);
    const original = originalOf(target);
    if (original === undefined || !existsSync(target)) return to;
    const ids = known.get(target.href) ?? idsBetween(read(target), read(original));
    known.set(target.href, ids);
    return `${path}#${ids.get(id) ?? id}`;
  };
};

/** A page as the interface shows it. */
const pageOf = (file: URL): GuidePage => {
  const original = originalOf(file);
  return original === undefined ? read(file) : asOriginal(read(file), read(original), leadFrom(file));
};

/** A page of the guide in English, by its file's path in `docs`, and its German one, where there is one. */
export const bothOf = (file: string): { en: GuidePage; de?: GuidePage } => {
  const german = new URL(`${nameOf(file)}.md`, GERMAN);
  return { en: pageOf(new URL(file, DOCS)), ...(existsSync(german) ? { de: pageOf(german) } : {}) };
};

/** Pages of `docs` that the interface shows: name, and title by language. */
export const guideTitles = () =>
  GUIDE_FILES.map((file) => {
    const { en, de } = bothOf(file);
    return [nameOf(file), { en: en.title, ...(de && { de: de.title }) }];
  });

/** Makes each page a module of its own: what `readPage` reads in it. */
export const guidePages: Plugin = {
  name: 'guide-pages',
  enforce: 'pre',
  load(id) {
    if (!id.endsWith('.md')) return undefined;
    const file = new URL(`file://${id}`);
    const original = originalOf(file);
    for (const one of original === undefined ? [file] : [file, original]) this.addWatchFile(fileURLToPath(one));
    return {
      code: `export default ${JSON.stringify(pageOf(file))}`,
      map: null,
      moduleType: 'js',
    };
  },
};
