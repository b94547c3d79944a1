import { createNetworkSet, parseNetwork } from '@sallyport/access';
import type { Actor } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { isToken } from './break-glass.ts';
import { splitNetworks } from './network-list.ts';
import type { SecurityStore } from './store.ts';

const holds = (whitelist: string, address: string): boolean =>
  createNetworkSet(splitNetworks(whitelist).map(parseNetwork)).has(address);

/** A program of ours puts back what was in force before: whoever made that passed these rules. */
const isOurs = ({ identity }: Actor): boolean => identity.kind === 'system';

/** The rules about the master switch, the same for every way to it: its own calls, the configuration and the setting. */
export const createLockOutRules = (
  store: (executor: Executor) => Pick<SecurityStore, 'config' | 'switches' | 'tokenHash'>,
) => {
  const isValidToken = async (tx: Executor, token: string | undefined): Promise<boolean> => {
    const hash = await store(tx).tokenHash();
    return token !== undefined && hash !== undefined && isToken(token, hash);
  };

  return {
    isValidToken,

    /**
     * Throws a 400 when nothing would let the caller back in once the suite is on: it takes a token that is in force, or an
     * `admin_whitelist` that holds the caller. On this very host any will do, but none is none: who set it up here by SSH
     * works from elsewhere.
     */
    async checkTurnOn(tx: Executor, actor: Actor, whitelist: string, token?: string): Promise<void> {
      if (isOurs(actor)) return;
      if (whitelist !== '' && (actor.isLocal || holds(whitelist, actor.ip))) return;
      if (await isValidToken(tx, token)) return;
      throw refuse.invalid(
        'enabling could lock you out: put your address into admin_whitelist, or send a valid break_glass_token to ' +
          'POST /security/enable',
      );
    },

    /** Throws a 403 unless the caller is on this host: from elsewhere switching off takes a break-glass token. */
    checkTurnOff(actor: Actor): void {
      if (actor.isLocal) return;
      throw refuse.forbidden('From elsewhere this takes a break-glass token: POST /security/disable');
    },

    /** The same for who sets the switch without a token. Setting it to what it is changes nothing and needs nothing. */
    async checkSwitch(tx: Executor, enabled: boolean, actor: Actor): Promise<void> {
      if ((await store(tx).switches()).guard === enabled) return;
      if (enabled) await this.checkTurnOn(tx, actor, (await store(tx).config())?.admin_whitelist ?? '');
      else this.checkTurnOff(actor);
    },
  };
};
export type LockOutRules = ReturnType<typeof createLockOutRules>;
