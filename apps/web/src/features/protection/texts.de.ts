import type { Texts } from '../../i18n/texts.ts';
import { accessLists } from './access-lists/texts.de.ts';
import type { protection as english } from './texts.en.ts';

export const protection: Texts<typeof english> = { accessLists };
