import { accessLists } from './access-lists/texts.en.ts';
import { blocks } from './blocks/texts.en.ts';
import { decisions } from './decisions/texts.en.ts';
import { logs } from './logs/texts.en.ts';
import { notifications } from './notifications/texts.en.ts';
import { security } from './security/texts.en.ts';

export const protection = { accessLists, blocks, decisions, logs, notifications, security } as const;
