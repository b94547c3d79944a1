import { constants, existsSync } from 'node:fs';
import { chmod, copyFile } from 'node:fs/promises';
import { makeBackup } from '@sallyport/backup/shelf/make-backup';
import { isBackupName } from '@sallyport/backup/shelf/names';
import { problemsOf } from '@sallyport/backup/shelf/open-backup';
import { createShelf, type Shelf } from '@sallyport/backup/shelf/shelf';
import { createShelving } from '@sallyport/backup/shelf/shelve';
import { verifyShelved } from '@sallyport/backup/shelf/verify';
import { SHORTEST_PASSPHRASE, type ShelvedBackup } from '@sallyport/contract';
import { Command } from 'commander';
import { withDeployment } from '../deployment.ts';
import { CommandFailure } from '../failure.ts';
import { loadConfig } from '../load-config.ts';
import { print, printTable } from '../print.ts';
import { readPassphrase } from '../read-password.ts';
import { deploymentPassphrase } from '../stored-passphrase.ts';
import { restoreCommand } from './restore.ts';

interface PassphraseOption {
  passphraseFile?: string;
}

/** Never the passphrase itself: every user of the machine can read the arguments of a command. */
const withPassphrase = (command: Command, what: string): Command =>
  command.option('--passphrase-file <path>', `${what}; read from a file, or asked for with -`);

const clock = () => new Date();

/** Throws a `CommandFailure` for what is no backup of the deployment. */
const findIn = async (shelf: Shelf, name: string): Promise<ShelvedBackup> => {
  const backup = isBackupName(name) ? await shelf.find(name) : undefined;
  if (!backup) throw new CommandFailure(`there is no backup ${name}; "sallyport backup list" names them`);
  return backup;
};

const create = () =>
  withPassphrase(
    new Command('create').description('make a backup of everything that is configured, and print its name'),
    'encrypt it, and put the key of this deployment into it',
  ).action(({ passphraseFile }: PassphraseOption, command: Command) =>
    withDeployment(command, async ({ config, database, audit, actor }) => {
      const passphrase = await readPassphrase(passphraseFile);
      if (passphrase !== undefined && passphrase.length < SHORTEST_PASSPHRASE) {
        throw new CommandFailure(`the passphrase must be at least ${SHORTEST_PASSPHRASE} characters long`);
      }
      const shelf = createShelf(config.dataDir);
      const { transactAside } = database;
      const made = await makeBackup({ config, shelf, at: clock(), kind: 'manual', passphrase });
      const backup = await createShelving({ shelf, transactAside, record: audit.record, clock }).add({
        ...made,
        kind: 'manual',
        isVerified: true,
        action: 'backup.create',
        actor,
      });
      // Nothing else, so that a script can go on with it.
      print(backup.name);
    }),
  );

const list = () =>
  new Command('list').description('list backups, newest first').action(async (_options: object, command: Command) => {
    const backups = await createShelf(loadConfig(command).dataDir).list();
    printTable(
      ['name', 'bytes', 'made at', 'before', 'encrypted', 'verified at'],
      backups.map(({ name, size, created_at, reason, encrypted, verified_at }) => [
        name,
        String(size),
        created_at,
        reason.replace(/^before-/, ''),
        encrypted ? 'yes' : 'no',
        verified_at ?? 'never',
      ]),
    );
  });

const verify = () =>
  withPassphrase(
    new Command('verify')
      .description('read all of a backup and tell what is wrong with it; needs no store')
      .argument('<backup>', 'name that "backup list" shows, or path of a file'),
    'passphrase of an encrypted one, unless it is backup.passphrase',
  ).action(async (named: string, { passphraseFile }: PassphraseOption, command: Command) => {
    const config = loadConfig(command);
    const shelf = createShelf(config.dataDir);
    const stored = () => deploymentPassphrase(config);
    const path = isBackupName(named) ? shelf.pathOf(named) : named;
    if (!existsSync(path)) throw new CommandFailure(`there is no file ${path}`);
    const given = await readPassphrase(passphraseFile);
    const shelved = isBackupName(named) ? await shelf.find(named) : undefined;
    const problems = shelved
      ? await verifyShelved(shelf, shelved, { given, stored, at: clock() })
      : await problemsOf(path, given, stored);
    if (problems.length > 0) throw new CommandFailure(problems.join('; '));
    print('the backup is whole');
  });

const remove = () =>
  new Command('delete')
    .description('delete a backup')
    .argument('<name>')
    .action((name: string, _options: object, command: Command) =>
      withDeployment(command, async ({ config, database, audit, actor }) => {
        const shelf = createShelf(config.dataDir);
        const { transactAside } = database;
        const backup = await findIn(shelf, name);
        await createShelving({ shelf, transactAside, record: audit.record, clock }).remove(backup, actor);
        print(`${name} deleted`);
      }),
    );

const download = () =>
  new Command('download')
    .description('copy a backup to a file of its own, for nobody else to read')
    .argument('<name>')
    .argument('<path>', 'a file that is not there yet')
    .action(async (name: string, path: string, _options: object, command: Command) => {
      const shelf = createShelf(loadConfig(command).dataDir);
      const backup = await findIn(shelf, name);
      process.umask(0o077);
      await copyFile(shelf.pathOf(backup.name), path, constants.COPYFILE_EXCL).catch((error: NodeJS.ErrnoException) => {
        throw new CommandFailure(
          error.code === 'EEXIST' ? `${path} is there already: remove it, or name another file` : error.message,
        );
      });
      await chmod(path, 0o600);
      print(`${backup.sha256}  ${path}`);
    });

/** `sallyport backup …` */
export const backupCommand = (): Command =>
  new Command('backup')
    .description('backups of everything that is configured')
    .addCommand(create())
    .addCommand(list())
    .addCommand(verify())
    .addCommand(restoreCommand())
    .addCommand(download())
    .addCommand(remove());
