import { type CaddyfileError, type CaddyfileMeaning, type Directive, readCaddyfiles } from '@sallyport/caddyfile';
import { atMost } from '../at-most.ts';
import { aboutAutomatic } from '../certificates/automatic.ts';
import { Beside } from '../certificates/beside.ts';
import { warn } from '../loss.ts';
import type { ImportWarning, Reading, SourceError, SourceFile } from '../reading.ts';
import { makeHosts } from './hosts.ts';

/** Directives that serve files, or change which file is served. */
const STATIC_FILES = new Set(['browse', 'file_server', 'fs', 'php_fastcgi', 'root', 'templates', 'try_files']);

const staticFilesIn = (directives: readonly Directive[], found: ImportWarning[]): void => {
  for (const { name, block } of directives) {
    if (STATIC_FILES.has(name.text)) found.push(warn(name, `${name.text} serves files, which a proxy host does not`));
    if (block) staticFilesIn(block, found);
  }
};

/** Of the whole, not of each host. */
const MAX_WARNINGS = 1000;

/** Options whose effect on sites is read, or that are about a Caddy that is no longer there. */
const OPTIONS_WITHOUT_LOSS = new Set(['debug', 'default_bind']);

const aboutOptions = ({ options }: CaddyfileMeaning): ImportWarning[] =>
  options.others
    .filter(({ name }) => !OPTIONS_WITHOUT_LOSS.has(name.text))
    .map(({ name }) => warn(name, `the global option ${name.text} is not taken over`));

const toError = ({ message, file, line, column, text }: CaddyfileError): SourceError => {
  return { file, line, column, message, ...(text !== undefined && { text }) };
};

/**
 * Reads Caddyfiles into proxy hosts, with the certificates that were uploaded beside them; the first file is the main one, and imports find the others.
 * Never throws because of what the files say: that is in the reading's `errors`. No environment is looked at.
 */
export const readCaddyfile = (files: readonly SourceFile[], beside = new Beside([])): Reading => {
  const meaning = readCaddyfiles(files);
  const { hosts, warnings, errors } = makeHosts(meaning, beside);
  const staticFiles: ImportWarning[] = [];
  for (const { directives } of meaning.blocks) staticFilesIn(directives, staticFiles);
  return {
    source: 'caddyfile',
    hosts,
    certificates: beside.taken(hosts),
    warnings: atMost(MAX_WARNINGS, [
      ...meaning.notices.map((one) => warn(one, one.message)),
      ...aboutOptions(meaning),
      ...aboutAutomatic('Caddy', hosts),
      ...warnings,
    ]),
    errors: [...meaning.errors.map(toError), ...errors].slice(0, MAX_WARNINGS),
    staticFiles: atMost(MAX_WARNINGS, staticFiles),
  };
};
