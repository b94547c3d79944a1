import { overview } from './overview/texts.en.ts';

export const system = { overview } as const;
