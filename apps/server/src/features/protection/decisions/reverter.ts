import { Refusal, refuse } from '@sallyport/store/errors';
import { fieldsOf, type Reverter } from '../../reverter.ts';
import type { Changed, Decisions } from './service.ts';
import type { StoredDecision } from './store.ts';

const COLUMNS = ['id', 'uuid', 'ip', 'action', 'details', 'source', 'created_at', 'expires_at'];

export interface DecisionReverterDeps {
  decisions: Pick<Decisions, 'within' | 'get'>;
  /** Resolves when the decisions about these networks are enforced, or when it is known why not. */
  decisionsChanged: (networks: readonly string[], version: number) => Promise<void>;
  clock: () => Date;
}

/** Takes manual bans back, and their ends; one that has run out meanwhile does not come back. */
export const createDecisionReverter = ({ decisions, decisionsChanged, clock }: DecisionReverterDeps): Reverter => {
  /** What transactions did, until it is told. */
  const changes = new Map<string, Changed>();
  return {
    policy: 'sensitive',
    current: (tx, key) => decisions.within.current(tx, key),
    async apply(tx, undoing, actor) {
      const { key } = undoing;
      if (undoing.does === 'update') throw refuse.conflict('A decision never changes');
      const apply = async (): Promise<Changed> => {
        if (undoing.does === 'remove') return decisions.within.remove(tx, key, actor);
        const decision = fieldsOf<StoredDecision>(undoing.state, COLUMNS);
        const { expires_at } = decision;
        if (expires_at !== null && Date.parse(expires_at) <= clock().getTime()) {
          throw refuse.conflict(`It would have ended at ${expires_at}`);
        }
        return decisions.within.create(tx, decision, actor);
      };
      const changed = await apply();
      changes.set(key, changed);
      return { key, id: changed.decision.id };
    },
    async settle(touched) {
      const told = touched.flatMap(({ key }) => changes.get(key) ?? []);
      for (const { key } of touched) changes.delete(key);
      const version = Math.max(...told.map((one) => one.version));
      if (told.length > 0)
        await decisionsChanged(
          told.map(({ decision }) => decision.ip),
          version,
        );
    },
    async show(key) {
      return decisions.get(key).catch((error: unknown) => {
        if (error instanceof Refusal && error.status === 404) return undefined;
        throw error;
      });
    },
  };
};
