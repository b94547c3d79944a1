import { type NewSetting, SETTINGS, type Setting, type SettingDefinition, type SettingKey } from '@sallyport/contract';
import type { Actor, RecordChange } from '../../actor.ts';
import type { Executor, Transact } from '../../db/open.ts';
import { refuse } from '../../errors.ts';
import type { SettingStore } from './store.ts';

export interface SettingDeps {
  db: Executor;
  transact: Transact;
  store: (executor: Executor) => SettingStore;
  record: RecordChange;
}

const isKnown = (key: string): key is SettingKey => Object.hasOwn(SETTINGS, key);

const checks: Readonly<Record<SettingDefinition['type'], (value: string) => string | undefined>> = {
  boolean: (value) => (value === 'true' || value === 'false' ? undefined : 'must be true or false'),
  integer: (value) => (/^-?\d{1,15}$/.test(value) ? undefined : 'must be a whole number'),
  email: (value) => (value === '' || /^[^\s@,]+@[^\s@,]+$/.test(value) ? undefined : 'must be an e-mail address'),
  text: (value) => (/[\r\n]/.test(value) ? 'must be one line' : undefined),
  url: (value) =>
    value === '' || (/^https?:\/\/[^/\s?#]+$/.test(value) && URL.canParse(value))
      ? undefined
      : 'must start with http:// or https:// and can not include path components',
};

/** Checks key and value against the catalogue; throws a 400 that names the reason. */
const check = ({ key, value }: NewSetting): SettingKey => {
  if (!isKnown(key)) throw refuse.invalid(`key "${key.slice(0, 64)}" is not a setting`);
  const problem = checks[SETTINGS[key].type](value);
  if (problem) throw refuse.invalid(`value ${problem}`);
  return key;
};

export const createSettings = ({ db, transact, store, record }: SettingDeps) => ({
  /** Every setting of the catalogue with its value in force; secrets are left empty. */
  async list(): Promise<Setting[]> {
    const stored = new Map((await store(db).all()).map(({ key, value }) => [key, value]));
    return Object.entries<SettingDefinition>(SETTINGS).map(([key, definition]) => ({
      key,
      value: definition.isSecret ? '' : (stored.get(key) ?? definition.default),
    }));
  },

  async set(input: NewSetting, actor: Actor): Promise<Setting> {
    const key = check(input);
    const definition: SettingDefinition = SETTINGS[key];
    const shown = (value: string | undefined) => ({ value: definition.isSecret ? '***' : value });
    await transact(async (tx) => {
      const before = await store(tx).get(key);
      await store(tx).set(key, input.value);
      await record(tx, {
        action: 'setting.set',
        actor,
        resource: `settings/${key}`,
        before: shown(before),
        after: shown(input.value),
      });
    });
    return { key, value: definition.isSecret ? '' : input.value };
  },
});
export type Settings = ReturnType<typeof createSettings>;
