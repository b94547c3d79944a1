import { accessLists } from './access-lists/texts.en.ts';

export const protection = { accessLists } as const;
