import {
  type CertificateImport,
  type CertificateInUse,
  type ListedCertificate,
  REVOCATION_REASONS,
  type RevokedCertificate,
} from '@sallyport/contract';
import { Command, Option } from 'commander';
import { CommandFailure } from '../failure.ts';
import { print, printTable } from '../print.ts';
import { readPassphrase } from '../read-password.ts';
import { askRunning, callRunning, withTokenFile } from '../running-service.ts';
import { writeText } from '../write-text.ts';
import { readCertificateFiles } from './certificate-files.ts';
import { orderCommand, preflightCommand, renewCommand } from './certificate-order.ts';
import { rootCommand } from './certificate-root.ts';

const ID = ['<id>', 'number or uuid, as "certificate list" shows it'] as const;

const pathOf = (id: string): string => `/certificates/${encodeURIComponent(id)}`;

const list = () =>
  withTokenFile(new Command('list'))
    .description('list certificates, with when they expire and are renewed')
    .addOption(new Option('--status <status>', 'only those').choices(['pending', 'valid', 'failed', 'revoked']))
    .addOption(new Option('--provider <provider>', 'only those').choices(['custom', 'letsencrypt', 'internal']))
    .option('--expires-before <time>', 'only those that expire before, e.g. 2026-12-31T00:00:00Z')
    .option('--json', 'print the answer as JSON')
    .action(
      async (
        {
          status,
          provider,
          expiresBefore,
          json,
        }: { status?: string; provider?: string; expiresBefore?: string; json?: boolean },
        command: Command,
      ) => {
        const asked = { status, provider, expires_before: expiresBefore, sort: 'expires_at' };
        const query = new URLSearchParams(
          Object.entries(asked).filter((entry): entry is [string, string] => entry[1] !== undefined),
        );
        const certificates = await callRunning(command)<ListedCertificate[]>('GET', `/certificates?${query}`);
        if (json) return print(JSON.stringify(certificates, null, 2));
        printTable(
          ['id', 'name', 'provider', 'status', 'expires', 'renewed from', 'hosts', 'names', 'issue'],
          certificates.map((one) => [
            String(one.id),
            one.name,
            one.provider,
            one.status,
            one.expires_at ?? '',
            one.renew_after ?? '',
            String(one.used_by_total),
            one.domains,
            one.issue ?? '',
          ]),
        );
      },
    );

const show = () =>
  withTokenFile(new Command('show'))
    .description('show all that is known of a certificate: steps and problem of its last attempt, hosts that use it')
    .argument(...ID)
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { json }: { json?: boolean }, command: Command) => {
      const certificate = await callRunning(command)<CertificateInUse>('GET', pathOf(id));
      if (json) return print(JSON.stringify(certificate, null, 2));
      const { steps, used_by, used_by_total, source, problem, ...rest } = certificate;
      const kept =
        source &&
        `${source.issuer}${source.account ? `, account ${source.account}` : ''}${source.challenge ? `, ${source.challenge}` : ''}`;
      printTable(
        ['field', 'value'],
        [
          ...Object.entries(rest).map(([field, value]) => [field, value === null ? '' : String(value)]),
          ['source', kept ?? 'nobody renews it'],
          ['problem', problem ? `${problem.detail} (${problem.type})` : ''],
          ['used by', `${used_by.map(({ domain }) => domain).join(' ')}${used_by_total > used_by.length ? ' …' : ''}`],
          ...steps.map(({ name, status, message }) => [`step ${name}`, `${status} ${message}`.trim()]),
        ],
      );
    });

const download = () =>
  withTokenFile(new Command('download'))
    .description('write the chain of a certificate, without its key: that takes a password, by the API')
    .argument(...ID)
    .option('--out <file>', 'where to; default: standard output')
    .action(async (id: string, { out }: { out?: string }, command: Command) => {
      const { text } = await askRunning(command)('GET', `${pathOf(id)}/download`);
      writeText(text, out);
    });

const revoke = () =>
  withTokenFile(new Command('revoke'))
    .description('have an ordered certificate revoked by its authority, for good; another one is ordered in its place')
    .argument(...ID)
    .addOption(new Option('--reason <reason>', 'what the authority is told').choices(Object.keys(REVOCATION_REASONS)))
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { reason, json }: { reason?: string; json?: boolean }, command: Command) => {
      const body = reason === undefined ? {} : { reason };
      const answer = await callRunning(command)<RevokedCertificate>('POST', `${pathOf(id)}/revoke`, body);
      print(json ? JSON.stringify(answer, null, 2) : answer.message);
    });

const bringIn = () =>
  withTokenFile(new Command('import'))
    .description(
      "take certificates and keys out of files and directories: certbot's, Caddy's, acme.sh's, Traefik's acme.json, any PEM or PKCS #12",
    )
    .argument('<path...>', 'files, and directories with all below them')
    .option('--password-file <path>', 'password of the PKCS #12 files; read from a file, or asked for with -')
    .option('--json', 'print the answer as JSON')
    .action(
      async (paths: string[], { json, passwordFile }: { json?: boolean; passwordFile?: string }, command: Command) => {
        const form = new FormData();
        const password = await readPassphrase(passwordFile);
        if (password !== undefined) form.append('pkcs12_password', password);
        for (const { path, bytes } of readCertificateFiles(paths)) form.append('file', new Blob([bytes]), path);
        const { imported, files } = await callRunning(command)<CertificateImport>('POST', '/certificates/import', form);
        if (json) print(JSON.stringify({ imported, files }, null, 2));
        else {
          printTable(
            ['file', 'outcome', 'certificate', 'why'],
            files.map(({ file, outcome, certificate_id, message }) => [
              file,
              outcome,
              String(certificate_id ?? ''),
              message,
            ]),
          );
          print('');
          print(`${imported} imported`);
        }
        if (files.some(({ outcome }) => outcome === 'locked')) {
          throw new CommandFailure('some need their password, or another one: --password-file');
        }
        if (files.some(({ outcome }) => outcome === 'refused'))
          throw new CommandFailure('not all of it could be used, see above');
      },
    );

/** `sallyport certificate`: asks the running service, for what changes has to reach its proxy. */
export const certificateCommand = (): Command =>
  new Command('certificate')
    .description('list, order, renew, revoke, import and download certificates; the root of the internal authority')
    .addCommand(list())
    .addCommand(show())
    .addCommand(orderCommand())
    .addCommand(renewCommand())
    .addCommand(revoke())
    .addCommand(preflightCommand())
    .addCommand(bringIn())
    .addCommand(download())
    .addCommand(rootCommand());
