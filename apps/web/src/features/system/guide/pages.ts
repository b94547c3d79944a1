import type { GuidePage } from './document.ts';

/** Fetches pages by their files in `docs`; each is a file of its own, fetched when it is first looked at. */
const FILES = import.meta.glob<GuidePage>(
  ['/../../docs/guide/*.md', '/../../docs/{operations,limits,not-yet,performance}.md'],
  { import: 'default' },
);

const nameOf = (file: string): string => /([^/]+)\.md$/.exec(file)?.[1] ?? file;

const PAGES = new Map(Object.entries(FILES).map(([file, fetch]) => [nameOf(file), fetch]));

/** How a page is fetched; undefined: there is none of this name. */
export const pageOf = (name: string) => PAGES.get(name);

/** Where a link of a page leads within the interface; undefined: to what is in the repository only. */
export const placeOf = (link: string, from: string): string | undefined => {
  const [file = '', heading] = link.split('#');
  const name = file === '' ? from : nameOf(file);
  if (!PAGES.has(name)) return undefined;
  return `/guide/${name}${heading === undefined ? '' : `#${heading}`}`;
};
