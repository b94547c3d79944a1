import type { NewImportOfFiles } from '@sallyport/contract';
import type { Reading, SourceFile } from '@sallyport/import';
import { refuse } from '@sallyport/store/errors';

type GivenFile = NewImportOfFiles['files'][number];

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const MOST_SHOWN = 5;

/** A file as it is read. Throws a 400 that names the field when the content is not what its encoding says. */
export const toFile = ({ filename, content, encoding }: GivenFile, field: string): SourceFile => {
  if (encoding !== 'base64') return { name: filename, content };
  if (content.length % 4 !== 0 || !BASE64.test(content)) throw refuse.invalid(`${field} must be base64`);
  return { name: filename, content, encoding };
};

/** Files as they are read. Throws a 400 for a name that is given twice. */
export const toFiles = (given: readonly GivenFile[]): SourceFile[] => {
  const files = given.map((file, index) => toFile(file, `files[${index}].content`));
  const names = new Set<string>();
  for (const [index, { name }] of files.entries()) {
    if (names.has(name)) throw refuse.invalid(`files[${index}].filename is the name of an earlier file`);
    names.add(name);
  }
  return files;
};

/** Throws the 400 of the spec for files that serve files. */
export const refuseStaticFiles = (found: Reading['staticFiles']): void => {
  if (found.length === 0) return;
  const places = found.slice(0, MOST_SHOWN).map(({ message, file, line }) => `${message} (${file}:${line})`);
  const more = found.length > MOST_SHOWN ? [`${found.length - MOST_SHOWN} more`] : [];
  throw refuse.invalid('The files use directives that serve static files, which can not be imported', {
    details: [...places, ...more].join('; '),
    warning:
      'Static file serving is not supported: let a server of its own serve the files and proxy to it, or upload the files one by one, where such a site is a warning',
  });
};
