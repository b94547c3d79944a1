import { join } from 'node:path';
import type { EmergencyDrill, EmergencyReset, EmergencyStatus } from '@sallyport/contract';
import type { Config } from '@sallyport/deployment/config';
import { formatAddress } from '@sallyport/deployment/listen';
import { envFile } from '@sallyport/deployment/places';
import { createDoor } from '@sallyport/recovery/door';
import type { Drill } from '@sallyport/recovery/drill/drill';
import { openProxy } from '@sallyport/recovery/open-proxy';
import { openPendingNote } from '@sallyport/recovery/pending';
import { createReset } from '@sallyport/recovery/reset';
import { switchOffInStore } from '@sallyport/recovery/switch-off';
import type { Actor, ChangeEntry, RecordChange } from '@sallyport/store/actor';
import type { Transact } from '@sallyport/store/database/open';
import { Refusal } from '@sallyport/store/errors';
import type { Logger } from 'pino';

/** Works whatever the server does, and finds this instance by itself. */
const COMMAND = join(import.meta.dirname, '../../../../../../bin/sallyport');

export interface EmergencyDeps {
  config: Pick<Config, 'dataDir' | 'emergencyToken' | 'emergencyBind' | 'managementCidrs'>;
  drill: Drill;
  transact: Transact;
  record: RecordChange;
  /** Writes an event down that changes nothing else; may reject. */
  note(entry: ChangeEntry): Promise<void>;
  /** Has what is stored enforced; not waited for, as a guard that hangs takes long. */
  enforce(): Promise<void>;
  log: Logger;
}

/** The first tier of emergency recovery, in the server itself (spec, Authentication 7). */
export const createEmergency = (deps: EmergencyDeps) => {
  const { config, drill, transact, record, note, enforce, log } = deps;
  const door = createDoor({ token: config.emergencyToken, managementCidrs: config.managementCidrs });
  const failed = (what: string) => (error: Error) => log.warn({ reason: error.message }, what);
  const reset = createReset({
    openProxy: () => openProxy(config.dataDir),
    async switchOff(actor) {
      await switchOffInStore({ transact, record }, actor);
      enforce().catch(failed('the reset is stored, but not everywhere in force yet'));
    },
    note: openPendingNote(config.dataDir, 'server'),
    log,
  });

  return {
    /** Resets when the door opens. Throws a `Refusal` of 401, 403, 429 or 501. */
    async reset(token: string | undefined, actor: Actor): Promise<EmergencyReset> {
      const decision = door({ address: actor.ip, token });
      if (!decision.isOpen) {
        const { status, error, reason, headers } = decision;
        if (reason !== undefined) {
          log.warn({ ip: actor.ip, user_agent: actor.userAgent, reason }, 'emergency reset refused');
          const after = { reason, server: 'api' };
          // Not waited for: a store that hangs must not tell attempts apart, nor hold the next one up.
          note({ action: 'emergency.refused', actor, resource: 'emergency', after }).catch(
            failed('the audit trail could not be written'),
          );
        }
        throw new Refusal(status, error, { headers });
      }
      log.warn({ ip: actor.ip, user_agent: actor.userAgent }, 'emergency reset');
      return reset.run(actor);
    },

    status: async (): Promise<EmergencyStatus> => ({
      token_set: config.emergencyToken !== undefined,
      listener: config.emergencyBind ? formatAddress(config.emergencyBind.host, config.emergencyBind.port) : null,
      last_proven_at: await drill.provenAt(),
      env_file: envFile(config.dataDir),
      command: COMMAND,
    }),

    /** See `createDrill`. */
    drill: (actor: Actor): Promise<EmergencyDrill> => drill.run(actor),

    stop: (): Promise<void> => reset.stop(),
  };
};
export type Emergency = ReturnType<typeof createEmergency>;
