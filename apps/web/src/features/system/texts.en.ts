import { about } from './about/texts.en.ts';
import { backups } from './backups/texts.en.ts';
import { emergency } from './emergency/texts.en.ts';
import { guide } from './guide/texts.en.ts';
import { history } from './history/texts.en.ts';
import { imports } from './import/texts.en.ts';
import { overview } from './overview/texts.en.ts';
import { traffic } from './overview/traffic/texts.en.ts';
import { settings } from './settings/texts.en.ts';

export const system = {
  imports,
  noMatch: 'Nothing here matches.',
  overview,
  traffic,
  backups,
  emergency,
  settings,
  guide,
  history,
  about,
} as const;
