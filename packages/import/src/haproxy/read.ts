import { atMost } from '../at-most.ts';
import { Beside } from '../certificates/beside.ts';
import type { ImportedHost, ImportWarning, Reading, SourceError, SourceFile } from '../reading.ts';
import { shorten } from '../shorten.ts';
import { configurationOf } from './configuration.ts';
import { makeHosts } from './hosts.ts';
import { HaproxyError, parseHaproxy } from './parse.ts';

const MAX_WARNINGS = 1000;

/**
 * Reads configurations of HAProxy into proxy hosts: all files together, as HAProxy does, with the certificates beside them. Never throws because of what the files
 * say: that is in the reading's `errors`.
 */
export const readHaproxy = (files: readonly SourceFile[], beside = new Beside([])): Reading => {
  const errors: SourceError[] = [];
  const warnings: ImportWarning[] = [];
  let hosts: ImportedHost[] = [];
  try {
    const sections = files.flatMap(parseHaproxy);
    hosts = makeHosts(configurationOf(sections), beside, warnings);
    const [first] = sections;
    if (hosts.length === 0 && warnings.length === 0) {
      errors.push({
        ...(first?.at ?? { file: files[0]?.name ?? '', line: 1, column: 1 }),
        message: 'no frontend chooses a backend by a name',
        text: first ? `${first.kind} ${shorten(first.name)}`.trim() : '',
      });
    }
  } catch (error) {
    if (!(error instanceof HaproxyError)) throw error;
    errors.push(error.found);
  }
  return {
    source: 'haproxy',
    hosts,
    certificates: beside.taken(hosts),
    warnings: atMost(MAX_WARNINGS, warnings),
    errors,
    staticFiles: [],
  };
};
