import { accounts } from '../../features/accounts/texts.en.ts';
import { system } from '../../features/system/texts.en.ts';
import { traffic } from '../../features/traffic/texts.en.ts';
import { common, views } from './common.en.ts';

/** What the interface says in English, by namespace; what comes with its screens is not here. */
export const en = { common, views, accounts, system, traffic } as const;
