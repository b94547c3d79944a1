import { accounts } from '../../features/accounts/texts.en.ts';
import { protection } from '../../features/protection/texts.en.ts';
import { system } from '../../features/system/texts.en.ts';
import { traffic } from '../../features/traffic/texts.en.ts';
import { common, views } from './common.en.ts';

/** Everything the interface says in English, by namespace. */
export const en = { common, views, accounts, protection, system, traffic } as const;
