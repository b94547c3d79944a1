import { refuse } from '@sallyport/store/errors';
import { fieldsOf, ifThere, type Reverter, type Touched } from '../../reverter.ts';
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
export const createDecisionReverter = ({
  decisions,
  decisionsChanged,
  clock,
}: DecisionReverterDeps): Reverter<Touched & Changed> => ({
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
    return { key, id: changed.decision.id, ...changed };
  },
  async settle(touched) {
    const networks = touched.map(({ decision }) => decision.ip);
    await decisionsChanged(networks, Math.max(...touched.map(({ version }) => version)));
  },
  show: (key) => ifThere(decisions.get(key)),
});
