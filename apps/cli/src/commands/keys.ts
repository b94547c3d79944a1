import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Executor } from '@sallyport/store/database/open';
import { forgetKey, newKey, replaceKey, retiredKeys } from '@sallyport/store/secrets/key-file';
import { countSealedWith, rotateKeys } from '@sallyport/store/secrets/rotate-keys';
import { createVault } from '@sallyport/store/secrets/vault';
import { Command } from 'commander';
import { type Deployment, withDeployment } from '../deployment.ts';
import { CommandFailure } from '../failure.ts';
import { print } from '../print.ts';

const MIN_KEY_LENGTH = 32;

const recordIn =
  ({ audit, actor }: Deployment) =>
  (tx: Executor) =>
    audit.record(tx, { action: 'keys.rotate', actor, resource: 'keys' });

/** The deployment gives the key: it has to be told the new one, and to restart with it. */
const rotateTo = async (deployment: Deployment, path: string): Promise<void> => {
  const { database, vault } = deployment;
  const key = readFileSync(path, 'utf8').trim();
  if (key.length < MIN_KEY_LENGTH) throw new CommandFailure(`${path} holds less than ${MIN_KEY_LENGTH} characters`);
  const next = createVault(key);
  if (next.keyId === vault.keyId) throw new CommandFailure(`${path} holds the key that is in use`);
  const count = await rotateKeys(database, { from: vault, to: next, install: () => {}, record: recordIn(deployment) });
  print(`${count} secrets sealed with key ${next.keyId}`);
  print('now set SALLYPORT_ENCRYPTION_KEY to the content of that file and restart every process of Sallyport');
};

/** The key is a file of the data directory: running processes follow it by themselves. */
const rotateFile = async (deployment: Deployment): Promise<void> => {
  const { database, vault, config } = deployment;
  if (config.encryptionKey !== undefined) {
    throw new CommandFailure('the key comes from SALLYPORT_ENCRYPTION_KEY; name a new one with --new-key-file');
  }
  const key = newKey();
  const { keyId } = createVault(key);
  const oldKeyId = vault.keyId;
  const count = await rotateKeys(database, {
    from: vault,
    to: createVault(key),
    install: () => replaceKey(config.dataDir, key, oldKeyId),
    record: recordIn(deployment),
  });
  print(`${count} secrets sealed with key ${keyId}`);
  print(`key ${oldKeyId} is kept for backups made before; "sallyport keys forget ${oldKeyId}" removes it`);
  if (config.databaseUrl !== undefined) {
    print(`now copy ${join(config.dataDir, 'encryption.key')} to every other node that shares this store`);
  }
};

const rotate = () =>
  new Command('rotate')
    .description('seal every stored secret with a new key, all or none')
    .option('--new-key-file <path>', 'take the new key from a file, for SALLYPORT_ENCRYPTION_KEY')
    .action((options: { newKeyFile?: string }, command: Command) =>
      withDeployment(command, async (deployment) => {
        if (options.newKeyFile === undefined) await rotateFile(deployment);
        else await rotateTo(deployment, options.newKeyFile);
      }),
    );

const list = () =>
  new Command('list')
    .description('name the key in use and those kept for backups')
    .action((_options: object, command: Command) =>
      withDeployment(command, async ({ config, vault }) => {
        print(`${vault.keyId} in use`);
        for (const keyId of retiredKeys(config.dataDir)) print(`${keyId} kept for backups`);
      }),
    );

const forget = () =>
  new Command('forget')
    .description('remove a kept key; secrets in backups sealed with it are lost')
    .argument('<id>')
    .action((keyId: string, _options: object, command: Command) =>
      withDeployment(command, async ({ config, database, audit, actor }) => {
        if (!retiredKeys(config.dataDir).includes(keyId)) throw new CommandFailure(`no key ${keyId} is kept`);
        await database.transact(async (tx) => {
          await audit.record(tx, { action: 'keys.forget', actor, resource: `keys/${keyId}` });
          const count = await countSealedWith(tx, keyId);
          if (count > 0) {
            throw new CommandFailure(`key ${keyId} still seals ${count} secrets of the store; run "keys rotate" first`);
          }
          forgetKey(config.dataDir, keyId);
        });
        print(`key ${keyId} forgotten`);
      }),
    );

/** `sallyport keys …` */
export const keysCommand = (): Command =>
  new Command('keys')
    .description('the key that stored secrets are encrypted with')
    .addCommand(rotate())
    .addCommand(list())
    .addCommand(forget());
