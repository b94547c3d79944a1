import { AccessListAsCode, CONFIG_FORMAT } from '@sallyport/contract';
import { compileCheck } from '@sallyport/contract/check';
import { atMost } from '../at-most.ts';
import { warn } from '../loss.ts';
import type { ImportedAccessList, ImportWarning, Reading, SourceError, SourceFile } from '../reading.ts';
import { usedOf } from '../unique-names.ts';
import { DocumentError, hostsIn, type OwnDocument, readDocument } from './document.ts';
import { hostsOf } from './hosts.ts';

const MAX_WARNINGS = 1_000;
/** Sections that a session takes hosts from, or what these refer to. */
const READ = new Set(['sallyport', 'proxy_hosts', 'access_lists']);

const isList = compileCheck(AccessListAsCode);

/** Those that can be made; hosts of others come switched off. */
const listsIn = ({ access_lists }: OwnDocument['sections']): Map<string, ImportedAccessList> => {
  const lists = new Map<string, ImportedAccessList>();
  for (const list of Array.isArray(access_lists) ? access_lists : []) {
    if (isList.accepts(list) && list.type !== undefined) lists.set(list.name, { rules: [], ...list, type: list.type });
  }
  return lists;
};

const isEmpty = (section: unknown): boolean =>
  typeof section === 'object' && section !== null && Object.keys(section).length === 0;

const read = (file: SourceFile): Omit<Reading, 'source' | 'staticFiles'> => {
  const start = { file: file.name, line: 1, column: 1 };
  const { sections, placeOfHost } = readDocument(file);
  if (sections.sallyport !== CONFIG_FORMAT) {
    const text = `sallyport: ${JSON.stringify(sections.sallyport)}`;
    throw new DocumentError(start, `sallyport must be ${CONFIG_FORMAT}: this is another version of the format`, text);
  }
  const warnings: ImportWarning[] = [];
  const errors: SourceError[] = [];
  const lists = listsIn(sections);
  const hosts = hostsIn(sections).flatMap((entry, index) =>
    hostsOf(entry, placeOfHost(index), index, { lists, warnings, errors }),
  );
  const left = Object.keys(sections).filter((name) => !READ.has(name) && !isEmpty(sections[name]));
  if (left.length > 0) {
    const message = `not taken over: ${left.join(', ')}; "sallyport apply ${file.name}" makes all of it so`;
    warnings.unshift(warn(start, message));
  }
  return { hosts, accessLists: usedOf([...lists.values()], hosts), warnings, errors };
};

/**
 * Reads a configuration of ours, as `GET /export` writes it: its hosts with their access lists, and what else there is as a warning.
 * Never throws because of what the file says: that is in the reading's `errors`.
 */
export const readSallyport = (files: readonly SourceFile[]): Reading => {
  const [main = { name: '', content: '' }, ...others] = files;
  try {
    const { warnings, errors, ...reading } = read(main);
    const unread = others.map(({ name }) => warn({ file: name, line: 1 }, 'is not read: a configuration is one file'));
    return {
      source: 'sallyport',
      ...reading,
      warnings: atMost(MAX_WARNINGS, [...warnings, ...unread]),
      errors,
      staticFiles: [],
    };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return { source: 'sallyport', hosts: [], warnings: [], errors: [error.found], staticFiles: [] };
  }
};
