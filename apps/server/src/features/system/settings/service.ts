import {
  type DescribedSetting,
  isSettingKey,
  type ListQuery,
  type NewSetting,
  SETTINGS,
  type Setting,
  type SettingDefinition,
  type SettingKey,
} from '@sallyport/contract';
import { refuseApiToken } from '@sallyport/store/accounts/session-only';
import type { Actor, KeptChange, RecordChange } from '@sallyport/store/actor';
import { type Page, pageOfRows } from '@sallyport/store/database/listing';
import type { Executor, Transact } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { anyVersion, type CheckVersion } from '@sallyport/store/object-version';
import { settingContext } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import { checkSetting } from './check-value.ts';
import type { SettingStore } from './store.ts';

export interface SettingDeps {
  db: Executor;
  transact: Transact;
  store: (executor: Executor) => SettingStore;
  vault: Vault;
  record: RecordChange;
  /** Throws a `Refusal` for a change that this caller may not make; called in the transaction, before it is stored. */
  check: (tx: Executor, key: SettingKey, value: string, actor: Actor) => Promise<void>;
  /** What whoever changed a setting should know; empty: nothing. `wasSet`: it had a value before. */
  noticeOf: (key: SettingKey, wasSet: boolean) => Promise<string>;
  /** Called after a change is stored; the answer waits for what follows from it. */
  changed: (key: SettingKey) => Promise<void>;
}

const definitionOf = (key: SettingKey): SettingDefinition => SETTINGS[key];

export const createSettings = ({ db, transact, store, vault, record, check, noticeOf, changed }: SettingDeps) => {
  const describe = (key: SettingKey, stored: string | undefined): DescribedSetting => {
    const { type, options, isSecret = false, description, default: fallback } = definitionOf(key);
    return {
      key,
      value: isSecret ? '' : (stored ?? fallback),
      type,
      default: fallback,
      description,
      ...(options ? { options: [...options] } : {}),
      is_secret: isSecret,
      is_set: stored !== undefined,
    };
  };

  const openStored = (key: SettingKey, stored: string | undefined): string => {
    const { isSecret, default: fallback } = definitionOf(key);
    if (stored === undefined) return fallback;
    return isSecret ? vault.open(stored, settingContext(key)) : stored;
  };

  const knownKey = (key: string): SettingKey => {
    if (!isSettingKey(key)) throw refuse.notFound('Setting not found');
    return key;
  };

  const checkCredential = (key: SettingKey, actor: Actor): void => {
    if (definitionOf(key).takesSession) refuseApiToken(actor);
  };

  /** What the audit trail shows: of a secret only that there is one. */
  const shown = (key: SettingKey, value: string | undefined) => ({
    value: value !== undefined && definitionOf(key).isSecret ? '***' : (value ?? null),
  });

  /** `before` as it is stored, `after` as it is meant; null: the default. */
  const kept = (key: SettingKey, before: string | undefined, after: string | null): KeptChange[] => {
    const change = (old: string | null): KeptChange => ({
      resource: `settings/${key}`,
      before: { value: old },
      after: { value: after },
      ...(definitionOf(key).isSecret ? { secret: ['value'] } : {}),
    });
    if (before === undefined) return [change(null)];
    try {
      return [change(openStored(key, before))];
    } catch {
      // Its key is lost: a new value must be possible nonetheless, and what nobody can read can't be brought back.
      return [];
    }
  };

  const read = async (key: SettingKey): Promise<string> => openStored(key, await store(db).get(key));

  const setIn = async (tx: Executor, key: SettingKey, value: string, actor: Actor, checkVersion: CheckVersion) => {
    const { isSecret = false } = definitionOf(key);
    await check(tx, key, value, actor);
    const before = await store(tx).get(key);
    checkVersion(describe(key, before));
    // Sealed inside the transaction: a rotation of the key is either over or waits.
    await store(tx).set(key, isSecret ? vault.seal(value, settingContext(key)) : value);
    await record(tx, {
      action: 'setting.set',
      actor,
      resource: `settings/${key}`,
      before: shown(key, before),
      after: isSecret ? { value: '*** (new)' } : shown(key, value),
      history: kept(key, before, value),
    });
    return { wasSet: before !== undefined };
  };

  const resetIn = async (tx: Executor, key: SettingKey, actor: Actor, checkVersion: CheckVersion) => {
    const before = await store(tx).get(key);
    checkVersion(describe(key, before));
    if (before === undefined) return;
    await check(tx, key, definitionOf(key).default, actor);
    await store(tx).delete(key);
    await record(tx, {
      action: 'setting.reset',
      actor,
      resource: `settings/${key}`,
      before: shown(key, before),
      history: kept(key, before, null),
    });
  };

  return {
    /** The same changes in a transaction of the caller, after which `changed` has to be called. */
    within: {
      changed,
      /** As it is meant, secrets opened; null: the default. Undefined for what is no setting. */
      async current(tx: Executor, text: string): Promise<{ value: string | null } | undefined> {
        if (!isSettingKey(text)) return undefined;
        const stored = await store(tx).get(text);
        return { value: stored === undefined ? null : openStored(text, stored) };
      },
      async put(tx: Executor, text: string, given: string | null, actor: Actor): Promise<void> {
        const key = knownKey(text);
        checkCredential(key, actor);
        if (given === null) return resetIn(tx, key, actor, anyVersion);
        await setIn(tx, key, checkSetting({ key, value: given }).value, actor, anyVersion);
      },
    },

    /** The value in force, secrets decrypted: for the service itself, never for an answer. */
    read,

    /** Whether a setting of type boolean is true. */
    isOn: async (key: SettingKey): Promise<boolean> => (await read(key)) === 'true',

    /** Every setting of the catalogue with its value in force; secrets are left empty. */
    async list(query: ListQuery): Promise<Page<DescribedSetting>> {
      const stored = new Map((await store(db).all()).map(({ key, value }) => [key, value]));
      const settings = (Object.keys(SETTINGS) as SettingKey[]).map((key) => describe(key, stored.get(key)));
      return pageOfRows(settings, query, {
        sortable: ['key', 'type', 'is_set'],
        searchable: ['key', 'value', 'description'],
      });
    },

    /** Throws a 404 for a key that is not in the catalogue. */
    async get(text: string): Promise<DescribedSetting> {
      const key = knownKey(text);
      return describe(key, await store(db).get(key));
    },

    /** Stores a value. Throws a 400 for an unknown key or a value that is none. */
    async set(input: NewSetting, actor: Actor, checkVersion = anyVersion): Promise<Setting> {
      const { key, value } = checkSetting(input);
      checkCredential(key, actor);
      const { wasSet } = await transact((tx) => setIn(tx, key, value, actor, checkVersion));
      await changed(key);
      const notice = await noticeOf(key, wasSet);
      return { key, value: definitionOf(key).isSecret ? '' : value, ...(notice === '' ? {} : { notice }) };
    },

    /** Goes back to the default. Throws a 404 for a key that is not in the catalogue. */
    async reset(text: string, actor: Actor, checkVersion = anyVersion): Promise<void> {
      const key = knownKey(text);
      checkCredential(key, actor);
      await transact((tx) => resetIn(tx, key, actor, checkVersion));
      await changed(key);
    },
  };
};
export type Settings = ReturnType<typeof createSettings>;
