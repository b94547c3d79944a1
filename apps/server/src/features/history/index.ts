import type { NotificationEvent } from '@sallyport/contract';
import { historyStore } from '@sallyport/store/history/store';
import { repeat } from '../../dataplane/repeat.ts';
import type { App } from '../../http/app-type.ts';
import type { Ground } from '../ground.ts';
import type { HostIntake } from '../host-intake.ts';
import type { Reverters } from '../reverter.ts';
import type { System } from '../system/index.ts';
import { confirmRoutes } from './confirm/routes.ts';
import { createConfirmations } from './confirm/service.ts';
import { startRetention } from './retention.ts';
import { createRevert } from './revert.ts';
import { historyRoutes } from './routes.ts';
import { createHistoryService } from './service.ts';

const LOOK_MS = 1_000;

export interface ChangeDeps {
  settings: System['settings'];
  reverters: Reverters;
  keepingWayIn: HostIntake['keepingWayIn'];
  /** Told to the live log and to whoever gets notifications. */
  tell: (event: NotificationEvent) => void;
}

/** Wires what was changed, and how it is taken back. */
export const createChanges = (
  { database, vault, record, clock, log }: Ground,
  { settings, reverters, keepingWayIn, tell }: ChangeDeps,
) => {
  const { kysely: db, transact } = database;
  const history = createHistoryService({ db, store: historyStore });
  const revert = createRevert({ db, transact, store: historyStore, vault, reverters, keepingWayIn });
  const confirmations = createConfirmations({
    db,
    transact,
    store: historyStore,
    undo: revert,
    record,
    tell,
    clock,
    log,
  });
  return {
    /** Takes back in the store what was not confirmed before this start; call it before anything is enforced or answered. */
    async takeOverdueBack(): Promise<void> {
      // It is tried again as long as the service runs.
      await confirmations
        .takeOverdueBack(false)
        .catch((err: unknown) => log.error({ err }, 'what was not confirmed could not be looked up'));
    },

    /** Takes back what is not confirmed in time, until stopped. */
    watchConfirmations: (): { stop(): Promise<void> } =>
      repeat('take back what is not confirmed', LOOK_MS, () => confirmations.takeOverdueBack(), log),

    /** Removes old changes from now on, until stopped. */
    startRetention: (): { stop(): Promise<void> } => startRetention({ db, settings, clock, log }),

    async routes(app: App): Promise<void> {
      await historyRoutes(history, revert)(app);
      await confirmRoutes(confirmations)(app);
    },
  };
};
export type Changes = ReturnType<typeof createChanges>;
