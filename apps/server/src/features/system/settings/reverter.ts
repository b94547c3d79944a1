import type { SettingKey } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';
import type { Reverter } from '../../reverter.ts';
import type { Settings } from './service.ts';

/** Settings have no number. */
const NO_ID = 0;

/** Takes changes of settings back; null is the default. */
export const createSettingReverter = (settings: Pick<Settings, 'within' | 'get'>): Reverter => ({
  policy: 'administrator',
  current: (tx, key) => settings.within.current(tx, key),
  async apply(tx, undoing, actor) {
    const { key } = undoing;
    if (undoing.does !== 'update') throw refuse.conflict('A setting is always there');
    const { value } = undoing.fields;
    await settings.within.put(tx, key, typeof value === 'string' ? value : null, actor);
    return { key, id: NO_ID };
  },
  async settle(touched) {
    for (const { key } of touched) await settings.within.changed(key as SettingKey);
  },
  show: (key) => settings.get(key),
});
