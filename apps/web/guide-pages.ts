import { readdirSync, readFileSync } from 'node:fs';
import type { Plugin } from 'vite';
import { readPage } from './src/features/system/guide/read-page.ts';

const DOCS = new URL('../../docs/', import.meta.url);
const FILES = [
  ...readdirSync(new URL('guide/', DOCS)).map((file) => `guide/${file}`),
  ...['operations.md', 'limits.md', 'not-yet.md', 'performance.md'],
];

/** Pages of `docs` that the interface shows: name and title. */
export const guideTitles = FILES.map((file) => [
  file.replaceAll(/^guide\/|\.md$/g, ''),
  readPage(readFileSync(new URL(file, DOCS), 'utf8')).title,
]);

/** Makes each page a module of its own: what `readPage` reads in it. */
export const guidePages: Plugin = {
  name: 'guide-pages',
  enforce: 'pre',
  load(id) {
    if (!id.endsWith('.md')) return undefined;
    this.addWatchFile(id);
    return {
      code: `export default ${JSON.stringify(readPage(readFileSync(id, 'utf8')))}`,
      map: null,
      moduleType: 'js',
    };
  },
};
