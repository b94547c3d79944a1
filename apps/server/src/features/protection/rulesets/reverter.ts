import type { Ruleset } from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';
import { fieldsOf, type Reverter, type Undoing } from '../../reverter.ts';
import type { RulesetContent, Rulesets } from './service.ts';
import type { RulesetStore } from './store.ts';

const FIELDS = ['name', 'source_url', 'mode', 'content', 'rule_count'];
const IDENTITY = ['id', 'uuid', 'created_at'];

export interface RulesetReverterDeps {
  rulesets: Pick<Rulesets, 'within' | 'get'>;
  store: (executor: Executor) => RulesetStore;
  db: Executor;
  changed: () => Promise<void>;
}

/** Takes changes of rule sets back. One that comes back has the uuid and the id that it had. */
export const createRulesetReverter = ({ rulesets, store, db, changed }: RulesetReverterDeps): Reverter => {
  /** What the set will be; undefined when it goes. */
  const becoming = async (undoing: Undoing): Promise<RulesetContent | undefined> => {
    if (undoing.does === 'remove') return undefined;
    if (undoing.does === 'restore') return fieldsOf<RulesetContent>(undoing.state, FIELDS);
    const now = await store(db).find(undoing.key);
    return now && { ...now, ...fieldsOf<Partial<RulesetContent>>(undoing.fields, FIELDS) };
  };
  return {
    policy: 'sensitive',
    current: (tx, key) => store(tx).find(key),
    async prepare(undoing) {
      const next = await becoming(undoing);
      // The Core Rule Set, or the engine, may be another one since.
      if (next) await rulesets.within.check(next.name, next.content, next.mode);
    },
    async apply(tx, undoing, actor) {
      const { key } = undoing;
      switch (undoing.does) {
        case 'update': {
          const fields = fieldsOf<Partial<RulesetContent>>(undoing.fields, FIELDS);
          return { key, id: (await rulesets.within.update(tx, key, fields, actor)).id };
        }
        case 'remove':
          return { key, id: (await rulesets.within.remove(tx, key, actor)).id };
        case 'restore': {
          const known = fieldsOf<Partial<Ruleset>>(undoing.state, IDENTITY);
          const content = fieldsOf<RulesetContent>(undoing.state, FIELDS);
          return { key, id: (await rulesets.within.create(tx, content, actor, known)).id };
        }
        default:
          return undoing satisfies never;
      }
    },
    settle: changed,
    show: (key) => store(db).find(key),
  };
};
