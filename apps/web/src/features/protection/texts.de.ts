import type { Texts } from '../../i18n/texts.ts';
import { accessLists } from './access-lists/texts.de.ts';
import { blocks } from './blocks/texts.de.ts';
import { decisions } from './decisions/texts.de.ts';
import { logs } from './logs/texts.de.ts';
import { notifications } from './notifications/texts.de.ts';
import { security } from './security/texts.de.ts';
import type { protection as english } from './texts.en.ts';

export const protection: Texts<typeof english> = { accessLists, blocks, decisions, logs, notifications, security };
