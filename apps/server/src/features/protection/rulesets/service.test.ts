import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ruleset, SECURITY_DEFAULTS } from '@sallyport/contract';
import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../../../test/support/temporary-directory.ts';
import { withStore } from '../../../testing/with-store.ts';
import { securityStore } from '../suite/store.ts';
import { findCoreRuleSet } from './core-rule-set.ts';
import { createRulesetReverter } from './reverter.ts';
import { createRulesets } from './service.ts';
import { rulesetStore } from './store.ts';

const actor = systemActor('test');
const NOW = '2026-05-02T12:00:00.000Z';

interface Given {
  rulesets: ReturnType<typeof createRulesets>;
  store: ReturnType<typeof rulesetStore>;
  db: Executor;
  /** What was fetched, and what was compiled, in this order. */
  done: string[];
  recorded: ChangeEntry[];
  changed: () => number;
}

/** Rules that are `wrong` don't compile: that they are compiled as they are used is tested with `check-rules.ts`. */
const given = (work: (it: Given) => Promise<void>): Promise<void> =>
  withStore(async ({ kysely: db, transact }) => {
    const [done, recorded] = [[] as string[], [] as ChangeEntry[]];
    let changed = 0;
    const rulesets = createRulesets({
      db,
      transact,
      store: rulesetStore,
      rules: {
        async check(name, content, mode) {
          done.push(`check ${name} ${mode} ${content}`);
          if (content === 'wrong') throw refuse.invalid('content is not valid');
          return content.length;
        },
        tell: async ({ name, mode }) => {
          done.push(`tell ${name} ${mode}`);
          return { rule_count: null, errors: [], warnings: [] };
        },
      },
      async fetchText(url, { maxBytes }) {
        done.push(`fetch ${url} ${maxBytes}`);
        return 'fetched';
      },
      changed: async () => void changed++,
      record: async (_tx: unknown, entry: ChangeEntry) => void recorded.push(entry),
      clock: () => new Date(NOW),
    });
    await work({ rulesets, store: rulesetStore(db), db, done, recorded, changed: () => changed });
  });

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    ({ status, message }: { status?: number; message: string }) => `${status} ${message}`,
  );

test('rules that do not compile are not stored, and what protects stays as it was', () =>
  given(async ({ rulesets, store, changed, recorded }) => {
    const add = (content: string) => rulesets.upsert({ name: ' mine ', content, mode: 'custom' }, actor);
    const first = await add('right');
    expect(first).toMatchObject({
      id: 1,
      name: 'mine',
      mode: 'custom',
      content: 'right',
      rule_count: 5,
      source_url: '',
    });
    expect(await refusal(add('wrong'))).toBe('400 content is not valid');
    expect(await store.list()).toEqual([first]);
    expect([changed(), recorded.length]).toEqual([1, 1]);
    const second = await add('other rules');
    expect(second).toEqual({ ...first, content: 'other rules', rule_count: 11 });
    expect(await store.list()).toEqual([second]);
    // The trail has no rules; the history has both, to bring them back.
    expect(recorded[1]).toMatchObject({
      action: 'ruleset.update',
      resource: 'security/rulesets/1',
      before: { content_bytes: 5 },
      after: { content_bytes: 11 },
      history: [{ resource: `security/rulesets/${first.uuid}`, before: first, after: second }],
    });
    expect(JSON.stringify([recorded[1]?.before, recorded[1]?.after])).not.toContain('other rules');
    const moved = () => {
      throw new Error('another version');
    };
    await expect(rulesets.upsert({ name: 'mine', content: 'x' }, actor, moved)).rejects.toThrow('another version');
    await expect(rulesets.remove(1, actor, moved)).rejects.toThrow('another version');
    expect(await store.list()).toEqual([second]);
  }));

test('rules are fetched by https alone, and only when none are given', () =>
  given(async ({ rulesets, done }) => {
    const add = (more: object) => refusal(rulesets.upsert({ name: 'x', ...more }, actor));
    expect(await add({ content: ' ', source_url: ' HTTPS://rules.example/a ' })).toBe('done');
    expect(await add({ content: 'own', source_url: 'http://rules.example/a' })).toBe('done');
    expect(done).toEqual(['fetch HTTPS://rules.example/a 5242880', 'check x owasp fetched', 'check x owasp own']);
    expect(await add({ source_url: 'http://rules.example/a' })).toMatch(
      /^400 source_url can only be fetched from https/,
    );
    expect(await add({ source_url: '' })).toMatch(/^400 content is required/);
    expect(await add({})).toMatch(/^400 content is required/);
    for (const wrong of [
      'ftp://rules.example',
      'file:///etc/passwd',
      'rules.example',
      'https://',
      'x https://a.example',
    ]) {
      expect(await add({ content: 'own', source_url: wrong }), wrong).toBe(
        '400 source_url must be an http:// or https:// URL',
      );
    }
    expect(await refusal(rulesets.upsert({ name: ' ', content: 'own' }, actor))).toBe('400 name is required');
    expect(done).toHaveLength(3);
    await rulesets.check({ content: 'x' }, () => true);
    await rulesets.check({ content: 'x', name: ' y ', mode: 'custom' }, () => true);
    expect(done.slice(3)).toEqual(['tell ruleset owasp', 'tell y custom']);
  }));

test('the rules that are in force are not deleted', () =>
  given(async ({ rulesets, store, db, recorded, changed }) => {
    for (const name of ['mine', 'other']) await rulesets.upsert({ name, content: name }, actor);
    const config = { ...SECURITY_DEFAULTS, waf_exclusions: [], updated_at: NOW, waf_rules_source: 'mine' };
    await securityStore(db).setConfig(config);
    expect(await refusal(rulesets.remove(1, actor))).toBe('409 ruleset is selected by waf_rules_source');
    expect(await refusal(rulesets.within.remove(db, 1, actor))).toBe('409 ruleset is selected by waf_rules_source');
    const { uuid } = await rulesets.get(2);
    expect(await refusal(rulesets.remove(uuid, actor))).toBe('done');
    expect((await store.list()).map(({ name }) => name)).toEqual(['mine']);
    expect(recorded.at(-1)).toMatchObject({
      action: 'ruleset.delete',
      history: [{ resource: `security/rulesets/${uuid}`, before: { content: 'other' } }],
    });
    expect(await refusal(rulesets.remove(2, actor))).toBe('404 Ruleset not found');
    expect(await refusal(rulesets.get(uuid))).toBe('404 Ruleset not found');
    expect(changed()).toBe(3);
    expect((await rulesets.list({ sort: 'name', search: 'MIN' })).rows).toHaveLength(1);
    expect((await rulesets.list({ search: 'nothing' })).rows).toEqual([]);
    for (const sort of ['source_url', 'mode', 'rule_count', 'created_at', 'updated_at'])
      expect((await rulesets.list({ sort })).total).toBe(1);
  }));

test('what is brought back is checked whole, and takes no place that another set has by now', () =>
  given(async ({ rulesets, store, db, done }) => {
    const { within } = rulesets;
    const gone = await rulesets.upsert({ name: 'mine', content: 'old', mode: 'custom' }, actor);
    await rulesets.remove(gone.id, actor);
    const { id, uuid, created_at } = gone;
    const complete = await within.complete({ ...gone, rule_count: 0 });
    expect(complete).toEqual({ ...gone, rule_count: 3 });
    const { name, source_url, mode, content, rule_count } = complete;
    const fields = { name, source_url, mode, content, rule_count };
    expect(await within.create(db, fields, actor, { id, uuid, created_at })).toEqual(gone);
    expect(await refusal(within.create(db, fields, actor, {}))).toBe('409 there is another ruleset "mine"');
    expect(await within.update(db, uuid, { content: 'new' }, actor)).toEqual({ ...gone, content: 'new' });
    const wrong: Partial<Ruleset>[] = [{ name: '' }, { name: ' a' }, { source_url: 'x' }, { content: 'wrong' }];
    for (const one of wrong) expect(await refusal(within.complete({ ...gone, ...one }))).toMatch(/^400 /);
    expect(done.at(-1)).toBe('check mine custom wrong');
    expect(await store.list()).toHaveLength(1);
  }));

test('a change of rules is taken back when what comes out of it compiles now', () =>
  given(async ({ rulesets, store, db, done }) => {
    let settled = 0;
    const reverter = createRulesetReverter(rulesets, async () => void settled++);
    expect(reverter.policy).toBe('sensitive');
    const old = await rulesets.upsert({ name: 'mine', content: 'old', mode: 'custom' }, actor);
    const { uuid: key } = old;
    await rulesets.upsert(
      { name: 'mine', content: 'newer', source_url: 'https://rules.example', mode: 'owasp' },
      actor,
    );
    done.splice(0);
    const { mode, content, source_url, rule_count } = old;
    const update = { does: 'update', key, fields: { mode, content, source_url, rule_count } } as const;
    await reverter.prepare?.(update);
    expect(done.splice(0)).toEqual(['check mine custom old']);
    // Of a field alone the rest is what is there.
    await reverter.prepare?.({ does: 'update', key, fields: { mode: 'custom' } });
    expect(done.splice(0)).toEqual(['check mine custom newer']);
    await reverter.apply(db, update, actor);
    expect(await store.find(key)).toEqual(old);
    await reverter.prepare?.({ does: 'remove', key });
    expect(done).toEqual([]);
    await reverter.apply(db, { does: 'remove', key }, actor);
    await reverter.prepare?.(update);
    expect(done).toEqual([]);
    await reverter.prepare?.({ does: 'restore', key, state: { ...old } });
    expect(done.splice(0)).toEqual(['check mine custom old']);
    expect(await reverter.apply(db, { does: 'restore', key, state: { ...old } }, actor)).toEqual({ key, id: old.id });
    expect(await store.find(key)).toEqual(old);
    const state = { ...old, content: 'wrong' };
    await expect(reverter.prepare?.({ does: 'restore', key, state })).rejects.toMatchObject({ status: 400 });
    await reverter.settle([]);
    expect(settled).toBe(1);
  }));

test('the Core Rule Set is read in its order, with the files around it, or not at all', () =>
  withTemporaryDirectory(async (directory) => {
    const at = { setup: join(directory, 'setup'), rules: join(directory, 'rules') };
    const put = (path: string) => writeFileSync(join(directory, path), '');
    expect(findCoreRuleSet(at)).toBeUndefined();
    for (const path of [at.setup, at.rules]) mkdirSync(path);
    for (const name of ['RESPONSE-999-B.conf', 'REQUEST-900-A.conf', 'REQUEST-900-A.conf.example', 'other.conf']) {
      put(`setup/${name}`);
    }
    for (const name of ['REQUEST-942-B.conf', 'REQUEST-901-A.conf', 'words.data']) put(`rules/${name}`);
    expect(findCoreRuleSet(at)).toBeUndefined();
    put('setup/crs-setup.conf');
    expect(findCoreRuleSet(at)).toEqual({
      directory: at.rules,
      setup: [join(at.setup, 'crs-setup.conf'), join(at.setup, 'REQUEST-900-A.conf')],
      rules: [
        join(at.rules, 'REQUEST-901-A.conf'),
        join(at.rules, 'REQUEST-942-B.conf'),
        join(at.setup, 'RESPONSE-999-B.conf'),
      ],
    });
    expect(findCoreRuleSet({ ...at, rules: at.setup })?.rules).toContain(join(at.setup, 'other.conf'));
    mkdirSync(join(directory, 'none'));
    expect(findCoreRuleSet({ ...at, rules: join(directory, 'none') })).toBeUndefined();
    // Another trouble than that there is none must not pass for none.
    expect(() => findCoreRuleSet({ ...at, rules: join(at.setup, 'crs-setup.conf') })).toThrow(/ENOTDIR/);
  }));
