import type { ImportVerification } from '@sallyport/contract';
import { Command, InvalidArgumentError } from 'commander';
import { CommandFailure } from '../failure.ts';
import { print, printTable } from '../print.ts';
import { callRunning, withTokenFile } from '../running-service.ts';

interface VerifyOptions {
  httpPort?: number;
  httpsPort?: number;
  host?: string[];
}

const readPort = (text: string): number => {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new InvalidArgumentError('must be a port.');
  return port;
};

const printVerification = ({ schemes, asked, same, hosts, not_asked }: ImportVerification): void => {
  if (hosts.length > 0) {
    printTable(
      ['name', 'over', 'what', 'old', 'here', 'means'],
      hosts.flatMap(({ name, differences }) =>
        differences.map(({ scheme, field, before, now, message }) => [name, scheme, field, before, now, message]),
      ),
    );
    print('');
  }
  print(`${asked} asked over ${schemes.join(' and ')}: ${same} the same, ${hosts.length} different`);
  if (not_asked.length > 0) print(`${not_asked.length} not asked; choose names with --host`);
};

/** `sallyport import verify`: has the running service ask the old and the new proxy. */
export const importVerifyCommand = (): Command =>
  withTokenFile(new Command('verify'))
    .description('ask the old and the new proxy for each imported name, and list where they differ')
    .argument('<session>', 'the import, as its commit told it')
    .argument('<old-address>', 'where the old proxy still answers: host, host:port or http(s)://host:port')
    .option('--http-port <port>', 'its port for HTTP', readPort)
    .option('--https-port <port>', 'its port for HTTPS', readPort)
    .option('--host <name...>', 'only these names')
    .action(async (session: string, old_address: string, options: VerifyOptions, command: Command) => {
      const { httpPort, httpsPort, host } = options;
      const call = callRunning(command);
      const verification = await call<ImportVerification>('POST', '/import/verify', {
        session,
        old_address,
        ...(httpPort === undefined ? {} : { old_http_port: httpPort }),
        ...(httpsPort === undefined ? {} : { old_https_port: httpsPort }),
        ...(host === undefined ? {} : { hosts: host }),
      });
      printVerification(verification);
      if (verification.hosts.length > 0 || verification.not_asked.length > 0) {
        throw new CommandFailure('not all answers are the same, see above');
      }
    });
