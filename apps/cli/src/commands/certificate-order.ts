import { type Certificate, CHALLENGES, KEY_TYPES, type NewCertificateOrder, type Preflight } from '@sallyport/contract';
import { Command, Option } from 'commander';
import { CommandFailure } from '../failure.ts';
import { print, printTable } from '../print.ts';
import { callRunning, withTokenFile } from '../running-service.ts';
import { followAttempt } from './certificate-follow.ts';

interface OrderOptions {
  name?: string;
  provider?: 'letsencrypt' | 'internal';
  challenge?: NewCertificateOrder['challenge'];
  account?: string;
  dnsProvider?: string;
  keyType?: NewCertificateOrder['key_type'];
  wait: boolean;
  json?: boolean;
}

/** A number or uuid, as the API takes references. */
const reference = (text: string): number | string => (/^\d+$/.test(text) ? Number(text) : text);

const withOrder = (command: Command): Command =>
  withTokenFile(command)
    .argument('<names...>', 'DNS names and addresses; *.example.com takes dns-01')
    .addOption(new Option('--challenge <kind>', 'how the names are proven').choices(CHALLENGES))
    .option('--account <id>', 'the account to order with, where there are several')
    .option('--dns-provider <id>', 'what writes the records of dns-01')
    .addOption(new Option('--key-type <type>', 'default p256').choices(KEY_TYPES))
    .option('--json', 'print the answer as JSON');

const bodyOf = (names: string[], { challenge, account, dnsProvider, keyType }: OrderOptions): NewCertificateOrder => ({
  names: names.flatMap((name) => name.split(',')).filter((name) => name !== ''),
  ...(challenge === undefined ? {} : { challenge }),
  ...(account === undefined ? {} : { account_id: reference(account) }),
  ...(dnsProvider === undefined ? {} : { dns_provider_id: reference(dnsProvider) }),
  ...(keyType === undefined ? {} : { key_type: keyType }),
});

const tell = (certificate: Certificate, isJson: boolean | undefined): void =>
  print(
    isJson
      ? JSON.stringify(certificate, null, 2)
      : `certificate ${certificate.id} for ${certificate.domains} is ${certificate.status}` +
          (certificate.expires_at === null ? '' : `; it expires on ${certificate.expires_at}`),
  );

const quiet = (): void => {};

/** `sallyport certificate order`: follows it until it is there, or has failed. */
export const orderCommand = (): Command =>
  withOrder(new Command('order'))
    .description('order a certificate, which renews by itself from then on')
    .option('--name <label>', 'what it is called here; default: its first name')
    .addOption(
      new Option('--provider <kind>', 'internal: of the internal authority; default: by ACME').choices([
        'letsencrypt',
        'internal',
      ]),
    )
    .option('--no-wait', 'do not wait until it is there')
    .action(async (names: string[], options: OrderOptions, command: Command) => {
      const { name, provider, wait, json } = options;
      const call = callRunning(command);
      const body = {
        ...bodyOf(names, options),
        ...(name === undefined ? {} : { name }),
        ...(provider ? { provider } : {}),
      };
      const { certificate } = await call<{ certificate: Certificate }>('POST', '/certificates/order', body);
      if (!wait) return tell(certificate, json);
      const before = { last_attempt_at: null };
      tell(await followAttempt(call, certificate.id, before, json ? quiet : undefined), json);
    });

/** `sallyport certificate renew`. */
export const renewCommand = (): Command =>
  withTokenFile(new Command('renew'))
    .description('renew a certificate now, or try for it again')
    .argument('<id>', 'number or uuid, as "certificate list" shows it')
    .option('--no-wait', 'do not wait until it is there')
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { wait, json }: OrderOptions, command: Command) => {
      const call = callRunning(command);
      const path = `/certificates/${encodeURIComponent(id)}`;
      const before = await call<Certificate>('GET', path);
      const { certificate } = await call<{ certificate: Certificate }>('POST', `${path}/renew`, {});
      tell(wait ? await followAttempt(call, before.id, before, json ? quiet : undefined) : certificate, json);
    });

/** What is sure to keep an order back, and what only looks so from here. */
const markOf = ({ ok, blocks }: Preflight['checks'][number]): string => (ok ? 'ok' : blocks ? 'NOT' : 'doubt');

/** `sallyport certificate preflight`: exits with 1 when something is sure to stand in the way. */
export const preflightCommand = (): Command =>
  withOrder(new Command('preflight'))
    .description('look for what would keep an order from succeeding, and order nothing')
    .action(async (names: string[], options: OrderOptions, command: Command) => {
      const preflight = await callRunning(command)<Preflight>(
        'POST',
        '/certificates/preflight',
        bodyOf(names, options),
      );
      if (options.json) print(JSON.stringify(preflight, null, 2));
      else {
        printTable(
          ['', 'check', 'of', 'seen', 'to do'],
          preflight.checks.map((check) => [markOf(check), check.name, check.subject, check.message, check.fix ?? '']),
        );
      }
      if (preflight.checks.some((check) => markOf(check) === 'NOT'))
        throw new CommandFailure('an order would fail: see what is NOT ok');
      if (!preflight.ok && !options.json) {
        print('');
        print('An order is made all the same: what is in doubt may look so from here only.');
      }
    });
