import type { Ruleset } from '@sallyport/contract';
import { columnOf, type Identifier } from '@sallyport/store/database/identifier';
import type { Executor } from '@sallyport/store/database/open';

type Row = Omit<Ruleset, 'mode'> & { mode: string };
const fromRow = (row: Row): Ruleset => ({ ...row, mode: row.mode as Ruleset['mode'] });

export const rulesetStore = (db: Executor) => ({
  async list(): Promise<Ruleset[]> {
    return (await db.selectFrom('rulesets').selectAll().orderBy('id').execute()).map(fromRow);
  },

  async find(named: Identifier): Promise<Ruleset | undefined> {
    const row = await db.selectFrom('rulesets').selectAll().where(columnOf(named), '=', named).executeTakeFirst();
    return row && fromRow(row);
  },

  async findByName(name: string): Promise<Ruleset | undefined> {
    const row = await db.selectFrom('rulesets').selectAll().where('name', '=', name).executeTakeFirst();
    return row && fromRow(row);
  },

  async insert(ruleset: Omit<Ruleset, 'id'> & { id?: number }): Promise<Ruleset> {
    return fromRow(await db.insertInto('rulesets').values(ruleset).returningAll().executeTakeFirstOrThrow());
  },

  async update(id: number, patch: Partial<Ruleset>): Promise<Ruleset> {
    const query = db.updateTable('rulesets').set(patch).where('id', '=', id).returningAll();
    return fromRow(await query.executeTakeFirstOrThrow());
  },

  async delete(id: number): Promise<void> {
    await db.deleteFrom('rulesets').where('id', '=', id).execute();
  },

  /** Whether `waf_rules_source` names it. */
  async isSelected(name: string): Promise<boolean> {
    const row = await db
      .selectFrom('security_config')
      .select('id')
      .where('waf_rules_source', '=', name)
      .executeTakeFirst();
    return row !== undefined;
  },
});
export type RulesetStore = ReturnType<typeof rulesetStore>;
