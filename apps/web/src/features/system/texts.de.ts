import type { Texts } from '../../i18n/texts.ts';
import { overview } from './overview/texts.de.ts';
import type { system as english } from './texts.en.ts';

export const system: Texts<typeof english> = { overview };
