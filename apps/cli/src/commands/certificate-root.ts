import type { InternalAuthority, InternalRoot } from '@sallyport/contract';
import { Command } from 'commander';
import { askYes } from '../ask-yes.ts';
import { CommandFailure } from '../failure.ts';
import { print, printTable } from '../print.ts';
import { askRunning, callRunning, withTokenFile } from '../running-service.ts';
import { writeText } from '../write-text.ts';

const PATH = '/certificates/internal-ca';

const factsOf = ({ subject, sha256, not_after, created_at }: InternalRoot, which = ''): string[][] => [
  [`${which}subject`, subject],
  [`${which}sha256`, sha256],
  [`${which}valid until`, not_after],
  [`${which}made at`, created_at],
];

const printFacts = ({ issue, next, ...root }: InternalAuthority): void =>
  printTable(
    ['field', 'value'],
    [
      ...factsOf(root),
      ...(issue === null ? [] : [['issue', issue]]),
      ...(next === null ? [] : factsOf(next, 'next: ')),
    ],
  );

const tell = (authority: InternalAuthority, isJson: boolean | undefined): void =>
  isJson ? print(JSON.stringify(authority, null, 2)) : printFacts(authority);

const show = () =>
  withTokenFile(new Command('show'))
    .description('show the root that signs, and the next one where there is one; this is what "root" alone does')
    .option('--json', 'print the answer as JSON')
    .action(async ({ json }: { json?: boolean }, command: Command) =>
      tell(await callRunning(command)<InternalAuthority>('GET', PATH), json),
    );

const download = () =>
  withTokenFile(new Command('download'))
    .description('write the root that signs, for devices that are to trust it')
    .option('--next', 'the next root in its place')
    .option('--out <file>', 'where to; default: standard output')
    .action(async ({ next, out }: { next?: boolean; out?: string }, command: Command) => {
      const { text } = await askRunning(command)('GET', `${PATH}/${next ? 'next-root' : 'root'}.pem`);
      writeText(text, out);
    });

const next = () =>
  withTokenFile(new Command('next'))
    .description('make the root that is to follow; it signs nothing before it takes over')
    .option('--json', 'print the answer as JSON')
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      tell(await callRunning(command)<InternalAuthority>('POST', `${PATH}/next`), json);
      if (json) return;
      print('');
      print('Have every device trust it ("certificate root download --next"), and then let it take over.');
    });

interface Meant {
  sha256?: string;
  yes?: boolean;
}

/** The fingerprint of the next root that is meant: named, or the one that is shown to whoever agrees to it. Throws a `CommandFailure` otherwise. */
const meantRoot = async ({ sha256, yes }: Meant, command: Command, what: string): Promise<{ sha256: string }> => {
  if (sha256 !== undefined) return { sha256 };
  const { next } = await callRunning(command)<InternalAuthority>('GET', PATH);
  if (next === null) throw new CommandFailure('There is no next root: "certificate root next" makes it');
  if (yes) return { sha256: next.sha256 };
  for (const [field = '', value = ''] of factsOf(next, 'next: ')) process.stderr.write(`${field}  ${value}\n`);
  if (await askYes(`${what} Is this the one that is meant?`)) return { sha256: next.sha256 };
  throw new CommandFailure('nothing was changed: name it by --sha256, or say --yes');
};

const withMeant = (command: Command) =>
  withTokenFile(command)
    .option('--sha256 <fingerprint>', 'the next root that is meant, as "root" shows it; another one is refused')
    .option('--yes', 'the one that is there, without a question');

const takeOver = () =>
  withMeant(new Command('take-over'))
    .description(
      'let the next root sign: all certificates are signed anew by it, and devices that do not trust it yet refuse them; the former one is gone then',
    )
    .option('--json', 'print the answer as JSON')
    .action(async ({ json, ...meant }: Meant & { json?: boolean }, command: Command) => {
      const body = await meantRoot(meant, command, 'It signs all certificates anew; devices have to trust it.');
      tell(await callRunning(command)<InternalAuthority>('POST', `${PATH}/take-over`, body), json);
    });

const dropNext = () =>
  withMeant(new Command('drop-next'))
    .description('give the next root up; the one that signs goes on')
    .action(async (meant: Meant, command: Command) => {
      const body = await meantRoot(meant, command, 'It is deleted with its key.');
      const { message } = await callRunning(command)<{ message: string }>('POST', `${PATH}/drop-next`, body);
      print(message);
    });

/** `sallyport certificate root`: the root of the internal authority, and the one that is to follow it. */
export const rootCommand = (): Command =>
  new Command('root')
    .description('show the root of the internal authority, download it, and have another one take over')
    .addCommand(show(), { isDefault: true })
    .addCommand(download())
    .addCommand(next())
    .addCommand(takeOver())
    .addCommand(dropNext());
