import { isSettingKey, SETTINGS, type SettingDefinition } from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { checkSetting } from '../settings/check-value.ts';
import { settingStore } from '../settings/store.ts';

/** Looks whether every setting of a store is one, with a value it may have. Throws a `Refusal` (400) that names the first that is not. */
export const checkStoredSettings = async (db: Executor): Promise<void> => {
  for (const { key, value } of await settingStore(db).all()) {
    const definition: SettingDefinition | undefined = isSettingKey(key) ? SETTINGS[key] : undefined;
    // What is sealed was opened before.
    if (definition?.isSecret) continue;
    try {
      checkSetting({ key, value });
    } catch (error) {
      throw refuse.invalid(`setting ${key}: ${(error as Error).message}`);
    }
  }
};
