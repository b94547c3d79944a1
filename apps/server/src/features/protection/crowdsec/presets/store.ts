import type { Executor } from '@sallyport/store/database/open';
import type { PresetChoice } from './hub.ts';

export const presetStore = (db: Executor) => ({
  /** The last choice about each preset, the oldest first. */
  async choices(): Promise<PresetChoice[]> {
    const rows = await db
      .selectFrom('preset_events')
      .select(['preset', 'applied'])
      .where('id', 'in', (last) =>
        last
          .selectFrom('preset_events')
          .select(({ fn }) => fn.max('id').as('id'))
          .groupBy('preset'),
      )
      .orderBy('id')
      .execute();
    return rows.map(({ preset, applied }) => ({ preset, applied: applied === 1 }));
  },

  async add({ preset, applied }: PresetChoice, actor: string, created_at: string): Promise<void> {
    await db
      .insertInto('preset_events')
      .values({ preset, applied: applied ? 1 : 0, actor, created_at })
      .execute();
  },
});
export type PresetStore = ReturnType<typeof presetStore>;
