import { objectReverter } from '../../object-reverter.ts';
import { fieldsOf, ifThere, type Reverter, type Undoing } from '../../reverter.ts';
import type { RulesetContent, Rulesets } from './service.ts';
import { rulesetStore } from './store.ts';

const FIELDS = ['name', 'source_url', 'mode', 'content', 'rule_count'];

/** Takes changes of rule sets back. `changed`: see `RulesetDeps`. */
export const createRulesetReverter = (objects: Rulesets, changed: () => Promise<void>): Reverter => {
  /** What the set will be; undefined when it goes, or is gone. */
  const becoming = async (undoing: Undoing): Promise<RulesetContent | undefined> => {
    if (undoing.does === 'remove') return undefined;
    if (undoing.does === 'restore') return fieldsOf<RulesetContent>(undoing.state, FIELDS);
    const now = await ifThere(objects.get(undoing.key));
    return now && { ...now, ...fieldsOf<Partial<RulesetContent>>(undoing.fields, FIELDS) };
  };
  return objectReverter<RulesetContent, Partial<RulesetContent>>({
    policy: 'sensitive',
    async prepare(undoing) {
      const next = await becoming(undoing);
      // The Core Rule Set, or the engine, may be another one since.
      if (next) await objects.within.check(next.name, next.content, next.mode);
    },
    fields: FIELDS,
    objects,
    store: rulesetStore,
    settle: changed,
  });
};
