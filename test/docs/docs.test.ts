import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(repository, path), 'utf8');

const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: repository,
  encoding: 'utf8',
})
  .trim()
  .split('\n');

const withoutCode = (text: string): string => text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, 'x');

/** The anchors of a page's headings, made as GitHub makes them. */
const anchorsOf = (page: string): string[] =>
  [
    ...read(page)
      .replaceAll(/^```[\s\S]*?^```/gm, '')
      .matchAll(/^#+ (.+)$/gm),
  ].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{Letter}\p{Number}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );

test.each(pages)('every link of %s leads somewhere', (page) => {
  const links = [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  const dead = links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : join(dirname(page), path);
    if (!existsSync(join(repository, target))) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor);
  });
  expect(dead).toEqual([]);
});

/** Files and folders of the repository that a text names, pictures and code included; `FOLDER` stands for any. */
const filesNamedIn = (text: string): string[] =>
  [...text.matchAll(/(?<![\w/.@-])(?:apps|packages|test|bin|docs)\/[\w./-]*\w(?![\w{*…])/g)]
    .map(([path]) => path)
    .filter((path) => !/\/[A-Z]+$/.test(path));

test('every file that a page names is there', () => {
  const gone = pages.flatMap((page) =>
    filesNamedIn(read(page))
      .filter((path) => !existsSync(join(repository, path)))
      .map((path) => `${page} names ${path}`),
  );
  expect(gone).toEqual([]);
  // It reads pictures, and would find one that has moved.
  expect(filesNamedIn(read('docs/path-of-a-request.md'))).toContain('apps/guard/src/judge/judge.ts');
  expect(filesNamedIn('a["x<br>apps/guard/src/gone.ts<br>y"] `test/gone`')).toEqual([
    'apps/guard/src/gone.ts',
    'test/gone',
  ]);
});

test('every setting is described in docs/operations.md, and no other', () => {
  const names = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name).sort();
  const known = names(read('packages/deployment/src/config.ts'), /read\w*\('([A-Z_]+)'/g);
  const described = names(read('docs/operations.md'), /^\| `([A-Z][A-Z_]+)` \|/gm);
  expect(known).toContain('SALLYPORT_HTTP_BIND');
  expect(described).toEqual(known);
});

test('the index names every page of the guide and every decision', () => {
  const index = read('docs/README.md');
  const missing = pages
    .filter((page) => /^docs\/.+\.md$/.test(page) && page !== 'docs/README.md')
    // Each is named like its English one.
    .filter((page) => !page.startsWith('docs/guide/de/'))
    .filter((page) => !index.includes(`(${page.slice('docs/'.length)})`));
  expect(missing).toEqual([]);
});
