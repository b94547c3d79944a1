import { historyStore } from '@sallyport/store/history/store';
import type { App } from '../../http/app-type.ts';
import type { Ground } from '../ground.ts';
import type { Reverters } from '../reverter.ts';
import type { System } from '../system/index.ts';
import { startRetention } from './retention.ts';
import { createRevert } from './revert.ts';
import { historyRoutes } from './routes.ts';
import { createHistoryService } from './service.ts';

export interface ChangeDeps {
  settings: System['settings'];
  reverters: Reverters;
}

/** Wires what was changed, and how it is taken back. */
export const createChanges = ({ database, vault, clock, log }: Ground, { settings, reverters }: ChangeDeps) => {
  const { kysely: db, transact } = database;
  const history = createHistoryService({ db, store: historyStore });
  const revert = createRevert({ db, transact, store: historyStore, vault, reverters });
  return {
    /** Removes old changes from now on, until stopped. */
    startRetention: (): { stop(): Promise<void> } => startRetention({ db, settings, clock, log }),

    async routes(app: App): Promise<void> {
      await app.register(historyRoutes(history, revert));
    },
  };
};
export type Changes = ReturnType<typeof createChanges>;
