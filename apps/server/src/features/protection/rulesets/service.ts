import { randomUUID } from 'node:crypto';
import type { ListQuery, NewRuleset, Ruleset, RulesetCheck, RulesetDraft } from '@sallyport/contract';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Identifier } from '@sallyport/store/database/identifier';
import { type Page, pageOfRows } from '@sallyport/store/database/listing';
import type { Executor, Transact } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import type { State } from '@sallyport/store/history/state';
import { anyVersion, type CheckVersion } from '@sallyport/store/object-version';
import type { KnownIdentity } from '../../object-reverter.ts';
import type { RuleCheck } from './check-rules.ts';
import type { RulesetStore } from './store.ts';

/** Gets a text by https under the SSRF rules. Throws a `Refusal` that says why it could not. */
export type FetchText = (url: string, limits: { maxBytes: number }) => Promise<string>;

export interface RulesetDeps {
  db: Executor;
  transact: Transact;
  store: (executor: Executor) => RulesetStore;
  rules: RuleCheck;
  fetchText: FetchText;
  /** Resolves when enforcement has followed the store, or when it is known why it couldn't. */
  changed: () => Promise<void>;
  record: RecordChange;
  clock: () => Date;
}

const MAX_FETCHED_BYTES = 5 * 1024 * 1024;

/** Throws a 400 for what is no URL; none is none. */
export const parseSourceUrl = (text: string): string => {
  const url = text.trim();
  if (url !== '' && !(URL.canParse(url) && /^https?:\/\//i.test(url))) {
    throw refuse.invalid('source_url must be an http:// or https:// URL');
  }
  return url;
};

/** What a ruleset is made of. */
export type RulesetContent = Pick<Ruleset, 'name' | 'source_url' | 'mode' | 'content' | 'rule_count'>;

const pickContent = ({ name, source_url, mode, content, rule_count }: Ruleset): RulesetContent => ({
  name,
  source_url,
  mode,
  content,
  rule_count,
});

/** For the audit trail: which rules they were can be told by their digest; five megabytes need not be kept twice. */
const outline = ({ content, ...rest }: Ruleset) => ({ ...rest, content_bytes: Buffer.byteLength(content) });

export const createRulesets = ({ db, transact, store, rules, fetchText, changed, record, clock }: RulesetDeps) => {
  const contentOf = async (input: NewRuleset, url: string): Promise<string> => {
    if (input.content !== undefined && input.content.trim() !== '') return input.content;
    if (url === '') throw refuse.invalid('content is required when there is no source_url');
    if (!/^https:/i.test(url)) throw refuse.invalid('source_url can only be fetched from https:// URLs');
    return fetchText(url, { maxBytes: MAX_FETCHED_BYTES });
  };

  const findIn = async (executor: Executor, named: Identifier): Promise<Ruleset> => {
    const ruleset = await store(executor).find(named);
    if (!ruleset) throw refuse.notFound('Ruleset not found');
    return ruleset;
  };

  /** Stores rules that were checked: in the place of `before`, or as a new set. */
  const saveIn = async (
    tx: Executor,
    before: Ruleset | undefined,
    given: RulesetContent,
    actor: Actor,
    known: KnownIdentity = {},
  ): Promise<Ruleset> => {
    const updated_at = clock().toISOString();
    const fields = { ...given, updated_at };
    const after = before
      ? await store(tx).update(before.id, fields)
      : await store(tx).insert({ ...fields, uuid: randomUUID(), created_at: updated_at, ...known });
    await record(tx, {
      action: before ? 'ruleset.update' : 'ruleset.create',
      actor,
      resource: `security/rulesets/${after.id}`,
      before: before && outline(before),
      after: outline(after),
      history: [{ resource: `security/rulesets/${after.uuid}`, before, after }],
    });
    return after;
  };

  const deleteIn = async (
    tx: Executor,
    named: Identifier,
    actor: Actor,
    checkVersion: CheckVersion,
  ): Promise<Ruleset> => {
    const before = await findIn(tx, named);
    checkVersion(before);
    const { id } = before;
    if (await store(tx).isSelected(before.name)) throw refuse.conflict('ruleset is selected by waf_rules_source');
    await store(tx).delete(id);
    await record(tx, {
      action: 'ruleset.delete',
      actor,
      resource: `security/rulesets/${id}`,
      before: outline(before),
      history: [{ resource: `security/rulesets/${before.uuid}`, before }],
    });
    return before;
  };

  return {
    /** The same changes in a transaction of the caller, after which enforcement has to follow. The rules are checked before. */
    within: {
      check: rules.check,
      /** Checks a whole set, and counts its rules. Throws a 400. */
      async complete(given: State): Promise<RulesetContent & State> {
        const { name, source_url, mode, content } = given as unknown as Ruleset;
        if (name.trim() !== name || name === '') throw refuse.invalid('name must not begin or end with blanks');
        const rule_count = await rules.check(name, content, mode);
        return { ...given, name, source_url: parseSourceUrl(source_url), mode, content, rule_count };
      },
      async create(tx: Executor, given: RulesetContent, actor: Actor, known: KnownIdentity) {
        if (await store(tx).findByName(given.name)) throw refuse.conflict(`there is another ruleset "${given.name}"`);
        return saveIn(tx, undefined, given, actor, known);
      },
      async update(tx: Executor, named: Identifier, fields: Partial<RulesetContent>, actor: Actor) {
        const before = await findIn(tx, named);
        return saveIn(tx, before, { ...pickContent(before), ...fields }, actor);
      },
      remove: (tx: Executor, named: Identifier, actor: Actor) => deleteIn(tx, named, actor, anyVersion),
    },

    async list(query: ListQuery): Promise<Page<Ruleset>> {
      return pageOfRows(await store(db).list(), query, {
        sortable: ['name', 'source_url', 'mode', 'rule_count', 'created_at', 'updated_at'],
        searchable: ['name', 'source_url'],
      });
    },

    /** Throws a 404. */
    get: (named: Identifier): Promise<Ruleset> => findIn(db, named),

    /** Tells what is wrong with rules that are not stored. Throws a 400 for what can't be tried at all, a 429 for too many at once. */
    check: ({ name, mode = 'owasp', content }: RulesetDraft, isWanted: () => boolean): Promise<RulesetCheck> =>
      rules.tell({ name: name?.trim() || 'ruleset', content, mode }, isWanted),

    /** Adds a ruleset or replaces the one of this name, once its rules compile. */
    async upsert(input: NewRuleset, actor: Actor, checkVersion = anyVersion): Promise<Ruleset> {
      const name = input.name.trim();
      if (name === '') throw refuse.invalid('name is required');
      const url = parseSourceUrl(input.source_url ?? '');
      const mode = input.mode ?? 'owasp';
      const content = await contentOf(input, url);
      const rule_count = await rules.check(name, content, mode);
      const ruleset = await transact(async (tx) => {
        const before = await store(tx).findByName(name);
        checkVersion(before ?? {});
        return saveIn(tx, before, { name, source_url: url, mode, content, rule_count }, actor);
      });
      await changed();
      return ruleset;
    },

    async remove(named: Identifier, actor: Actor, checkVersion = anyVersion): Promise<void> {
      await transact((tx) => deleteIn(tx, named, actor, checkVersion));
      await changed();
    },
  };
};
export type Rulesets = ReturnType<typeof createRulesets>;
