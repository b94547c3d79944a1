import { addAll } from '../add-all.ts';
import { atMost } from '../at-most.ts';
import { aboutAutomatic } from '../certificates/automatic.ts';
import { Beside } from '../certificates/beside.ts';
import { warn } from '../loss.ts';
import type { ImportWarning, Reading, SourceError, SourceFile } from '../reading.ts';
import { shorten } from '../shorten.ts';
import { addCompose, addFile, newDynamic } from './dynamic.ts';
import { makeHosts } from './hosts.ts';
import { TraefikError, treeOf } from './tree.ts';

const MAX_WARNINGS = 1000;

/**
 * Reads dynamic configurations of Traefik, YAML or TOML, and docker-compose files with its labels, all of them together, with the certificates beside them. Never
 * throws because of what the files say: that is in the reading's `errors`.
 */
export const readTraefik = (files: readonly SourceFile[], beside = new Beside([])): Reading => {
  const errors: SourceError[] = [];
  const warnings: ImportWarning[] = [];
  const dynamic = newDynamic();
  for (const file of files) {
    try {
      const tree = treeOf(file);
      if (tree.fields.has('services') && !tree.fields.has('http')) addCompose(dynamic, tree);
      else addFile(dynamic, tree);
    } catch (error) {
      if (!(error instanceof TraefikError)) throw error;
      errors.push(error.found);
    }
  }
  for (const { at, what } of dynamic.rest)
    warnings.push(warn(at, `${shorten(what)} is not taken over: only http is read`));
  for (const { at, what } of dynamic.doubles) warnings.push(warn(at, `${shorten(what)} is there already and left out`));
  if (dynamic.routers.size === 0 && errors.length === 0) {
    const [first] = files;
    const text = shorten(first?.content.trim().split('\n')[0] ?? '', 200);
    errors.push({ file: first?.name ?? '', line: 1, column: 1, message: 'there is no router in it', text });
  }
  if (dynamic.entryPoints.size === 0 && dynamic.routers.size > 0) {
    const message = 'middlewares of entry points are not known: where the static configuration has any, upload it, too';
    warnings.push(warn({ file: files[0]?.name ?? '', line: 1, column: 1 }, message));
  }
  addAll(warnings, beside.lacking(dynamic.certificates));
  const hosts = makeHosts(dynamic, beside.choice(dynamic.certificates), { errors, warnings });
  addAll(warnings, aboutAutomatic('Traefik', hosts));
  return {
    source: 'traefik',
    hosts,
    certificates: beside.taken(hosts),
    warnings: atMost(MAX_WARNINGS, warnings),
    errors: errors.slice(0, MAX_WARNINGS),
    staticFiles: [],
  };
};
