import { SETTINGS, type SettingKey } from '@sallyport/contract';
import type { Executor } from './database/open.ts';

/** The settings that switch the security suite: `guard` is the master switch, the others are its modules (spec, Settings). */
export const SWITCH_KEYS = {
  guard: 'feature.guard.enabled',
  acl: 'security.acl.enabled',
  waf: 'security.waf.enabled',
  rate_limit: 'security.rate_limit.enabled',
  crowdsec: 'security.crowdsec.enabled',
} as const satisfies Record<string, SettingKey>;

/** Reads which of them are stored as on or off; those that never were are missing. */
export const storedSwitches = async (db: Executor): Promise<Record<string, string>> => {
  const rows = await db.selectFrom('settings').selectAll().where('key', 'in', Object.values(SWITCH_KEYS)).execute();
  return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
};

/** The switches of the suite, as settings have them. */
export type Switches = Readonly<Record<keyof typeof SWITCH_KEYS, boolean>>;

/** Which of them are on, whether by what is stored or by default. */
export const areSwitchedOn = async (db: Executor): Promise<Switches> => {
  const stored = await storedSwitches(db);
  const isOn = (key: SettingKey) => (stored[key] ?? SETTINGS[key].default) === 'true';
  return {
    guard: isOn(SWITCH_KEYS.guard),
    acl: isOn(SWITCH_KEYS.acl),
    waf: isOn(SWITCH_KEYS.waf),
    rate_limit: isOn(SWITCH_KEYS.rate_limit),
    crowdsec: isOn(SWITCH_KEYS.crowdsec),
  };
};

/** Switches the whole suite off; to be run in a transaction that raises the revision. */
export const switchAllOff = async (tx: Executor): Promise<void> => {
  const values = Object.values(SWITCH_KEYS).map((key) => ({ key, value: 'false' }));
  await tx
    .insertInto('settings')
    .values(values)
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: 'false' }))
    .execute();
};
