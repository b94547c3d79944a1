import { historyStore } from '@sallyport/store/history/store';
import type { App } from '../../http/app-type.ts';
import type { Ground } from '../ground.ts';
import type { System } from '../system/index.ts';
import { startRetention } from './retention.ts';
import { historyRoutes } from './routes.ts';
import { createHistoryService } from './service.ts';

export interface ChangeDeps {
  settings: System['settings'];
}

/** Wires what was changed, and how it is taken back. */
export const createChanges = ({ database, clock, log }: Ground, { settings }: ChangeDeps) => {
  const { kysely: db } = database;
  const history = createHistoryService({ db, store: historyStore });
  return {
    /** Removes old changes from now on, until stopped. */
    startRetention: (): { stop(): Promise<void> } => startRetention({ db, settings, clock, log }),

    async routes(app: App): Promise<void> {
      await app.register(historyRoutes(history));
    },
  };
};
export type Changes = ReturnType<typeof createChanges>;
