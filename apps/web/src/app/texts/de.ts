import { accounts } from '../../features/accounts/texts.de.ts';
import { system } from '../../features/system/texts.de.ts';
import { traffic } from '../../features/traffic/texts.de.ts';
import type { Texts } from '../../i18n/texts.ts';
import { common, views } from './common.de.ts';
import type { en } from './en.ts';

/** Everything the interface says in German, by namespace. */
export const de: Texts<typeof en> = { common, views, accounts, system, traffic };
