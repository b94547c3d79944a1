import { SECURITY_DEFAULTS, type SecurityConfigPatch } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';
import type { State } from '@sallyport/store/history/state';
import { fieldsOf, type Reverter } from '../../reverter.ts';
import type { Security } from './service.ts';

const FIELDS = Object.keys(SECURITY_DEFAULTS);
/** There is one configuration, which has no number. */
const ONLY_ONE = 1;

export interface SecurityReverterDeps {
  security: Pick<Security, 'within' | 'config'>;
  changed: () => Promise<void>;
}

/** Takes changes of the security configuration back, exclusions included; its master switch is a setting. */
export const createSecurityReverter = ({ security, changed }: SecurityReverterDeps): Reverter => {
  const patchOf = (fields: State) => fieldsOf<Omit<SecurityConfigPatch, 'enabled'>>(fields, FIELDS);
  return {
    policy: 'sensitive',
    current: (tx) => security.within.current(tx),
    async prepare(undoing) {
      if (undoing.does === 'update') await security.within.check(patchOf(undoing.fields));
    },
    async apply(tx, undoing, actor) {
      if (undoing.does !== 'update') throw refuse.conflict('The configuration is always there');
      await security.within.update(tx, patchOf(undoing.fields), actor);
      return { key: undoing.key, id: ONLY_ONE };
    },
    settle: changed,
    show: async () => (await security.config()).config ?? undefined,
  };
};
