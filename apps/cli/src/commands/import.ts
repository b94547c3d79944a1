import type {
  ImportOfFiles,
  ImportOutcome,
  ImportPreview,
  ImportPreviewHost,
  ImportSession,
  ImportSessionReport,
} from '@sallyport/contract';
import { Command, Option } from 'commander';
import { ApiRefusal, type CallApi } from '../call-api.ts';
import { CommandFailure } from '../failure.ts';
import { print, printTable } from '../print.ts';
import { callRunning, withTokenFile } from '../running-service.ts';
import { readUpload } from './import-files.ts';
import { importVerifyCommand } from './import-verify.ts';

interface ImportOptions {
  dryRun?: boolean;
  onConflict?: 'keep' | 'overwrite';
}

type Previewed = Pick<ImportPreview, 'hosts' | 'conflicts' | 'errors' | 'warnings'> & Pick<ImportSession, 'source'>;

/** What a source is called by whoever has it. */
const SOURCES: Readonly<Record<NonNullable<ImportSession['source']>, string>> = {
  caddyfile: 'a Caddyfile',
  nginx: 'a configuration of nginx',
  'nginx-proxy-manager': 'a database of Nginx Proxy Manager',
  traefik: 'a configuration of Traefik',
  haproxy: 'a configuration of HAProxy',
  charon: 'a database of Charon',
  sallyport: 'a configuration of Sallyport',
};

const at = ({ file, line }: { file: string; line: number }): string => `${file}:${line}`;

/** What would become of a host, in a few words. */
const fateOf = ({ issue, conflicts, existing, changes }: ImportPreviewHost): string => {
  if (issue !== null) return `can not be imported: ${issue}`;
  if (conflicts.length === 0) return 'new';
  const theirs = existing.map(({ domain }) => domain).join(' and ');
  const fields = changes.map(({ field }) => field).join(', ');
  return `${conflicts.join(', ')} belongs to ${theirs}${fields === '' ? ', which is the same' : `; differs in ${fields}`}`;
};

const printPreview = ({ source, hosts, errors, warnings }: Previewed): void => {
  print(source === null ? 'read as: nothing that is known' : `read as: ${SOURCES[source]}`);
  if (hosts.length > 0) {
    print('');
    printTable(
      ['domain', 'origin', 'at', 'what'],
      hosts.map((host) => [
        host.domain,
        `${host.forward_scheme}://${host.forward_host}:${host.forward_port}`,
        at(host),
        fateOf(host),
      ]),
    );
  }
  const notes = [...hosts.flatMap((host) => host.warnings), ...warnings];
  if (notes.length > 0) {
    print('');
    printTable(
      ['at', 'not taken over'],
      notes.map((note) => [at(note), note.message]),
    );
  }
  if (errors.length > 0) {
    print('');
    printTable(
      ['at', 'not understood', 'what stands there'],
      errors.map((error) => [
        `${at(error)}${error.column === undefined ? '' : `:${error.column}`}`,
        error.message,
        error.text ?? '',
      ]),
    );
  }
};

/** Uploads files, and waits until they are read; why they could not be is in `errors`. */
const upload = async (call: CallApi, paths: readonly string[]): Promise<{ uuid: string | undefined } & Previewed> => {
  const files = readUpload(paths);
  if (files.length > 1) {
    const { session_uuid, ...previewed } = await call<ImportOfFiles>('POST', '/import/upload-multi', { files });
    const { source, state } = await call<ImportSessionReport>('GET', `/import/sessions/${session_uuid}`);
    return { uuid: state === 'failed' ? undefined : session_uuid, source, ...previewed };
  }
  const { session } = await call<{ session: ImportSession }>('POST', '/import/upload', files[0]);
  const { uuid } = session;
  try {
    const { session: reviewed, ...previewed } = await call<ImportPreview>('GET', '/import/preview');
    return { uuid, source: reviewed.source, ...previewed };
  } catch (error) {
    const { state, source, errors } = await call<ImportSessionReport>('GET', `/import/sessions/${uuid}`);
    if (!(error instanceof ApiRefusal) || state !== 'failed') throw error;
    return { uuid: undefined, source, hosts: [], conflicts: [], warnings: [], errors };
  }
};

/** Throws a `CommandFailure` for names that are taken when nobody said what becomes of those. */
const checkResolved = ({ conflicts }: Previewed, strategy: ImportOptions['onConflict']): void => {
  if (conflicts.length > 0 && strategy === undefined) {
    throw new CommandFailure(
      'some names belong to proxy hosts already: say with --on-conflict whether to keep or to overwrite those; nothing was imported',
    );
  }
};

/** Throws the `CommandFailure` that the import itself would end with. */
const checkRehearsed = (previewed: Previewed, strategy: ImportOptions['onConflict']): void => {
  checkResolved(previewed, strategy);
  if (previewed.errors.length > 0 || previewed.hosts.some(({ issue }) => issue !== null))
    throw new CommandFailure('not all of it can be imported, see above; nothing was imported, as --dry-run says');
};

const commit = async (call: CallApi, uuid: string, { conflicts }: Previewed, strategy: ImportOptions['onConflict']) => {
  const resolutions = Object.fromEntries(conflicts.map((name) => [name, strategy]));
  return call<ImportOutcome>('POST', '/import/commit', { session_uuid: uuid, resolutions });
};

/** `sallyport import`: asks the running service, for a change has to reach its proxy. */
export const importCommand = (): Command =>
  withTokenFile(new Command('import'))
    .description(
      "bring another proxy's configuration over: the main file first, then those it includes and the certificates it names",
    )
    .argument('<file...>', "files, or the directory of another manager's database")
    .addCommand(importVerifyCommand())
    .option('--dry-run', 'show what would be imported, and import nothing')
    .addOption(
      new Option('--on-conflict <strategy>', 'what becomes of hosts whose names are in the files, too').choices([
        'keep',
        'overwrite',
      ]),
    )
    .action(async (paths: string[], options: ImportOptions, command: Command) => {
      const { dryRun: isDry = false, onConflict } = options;
      const call = callRunning(command);
      const { uuid, ...previewed } = await upload(call, paths);
      let isDone = false;
      try {
        printPreview(previewed);
        if (uuid === undefined) throw new CommandFailure('there is nothing that could be imported');
        if (isDry) return checkRehearsed(previewed, onConflict);
        checkResolved(previewed, onConflict);
        const { imported, skipped, failed, batch, backup } = await commit(call, uuid, previewed, onConflict);
        isDone = true;
        print('');
        print(`${imported} imported, ${skipped} skipped, ${failed} failed`);
        if (batch !== null) print(`what was there is in ${backup}; "sallyport history revert ${batch}" takes it back`);
        if (imported > 0)
          print(`"sallyport import verify ${uuid} OLD-ADDRESS" compares it with the proxy it comes from`);
        if (failed > 0 || previewed.errors.length > 0)
          throw new CommandFailure('not all of it was imported, see above');
      } finally {
        // What fails already must not be hidden by this.
        if (uuid !== undefined && !isDone) await call('DELETE', `/import/cancel?session_uuid=${uuid}`).catch(() => {});
      }
    });
