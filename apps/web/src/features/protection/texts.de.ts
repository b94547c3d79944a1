import type { Texts } from '../../i18n/texts.ts';
import type { protection as english } from './texts.en.ts';

export const protection: Texts<typeof english> = {};
