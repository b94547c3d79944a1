import type { SettingKey } from '@sallyport/contract';
import type { App } from '../../../http/app-type.ts';
import type { Ground } from '../../ground.ts';
import { accountRoutes } from './accounts/routes.ts';
import { createAccounts } from './accounts/service.ts';
import { accountStore } from './accounts/store.ts';

export interface AcmeDeps {
  /** The value of a setting that is in force. */
  setting: (key: SettingKey) => Promise<string>;
}

/** Wires what has certificates from authorities: accounts with them. */
export const createAcme = (ground: Ground, { setting }: AcmeDeps) => {
  const { database, vault, record, clock, log } = ground;
  const { kysely: db, transactAside } = database;
  const accounts = createAccounts({
    db,
    transactAside,
    store: accountStore,
    vault,
    record,
    defaultName: () => setting('acme.account'),
    clock,
    log,
  });
  return {
    async routes(app: App): Promise<void> {
      await app.register(accountRoutes(accounts));
    },
  };
};
