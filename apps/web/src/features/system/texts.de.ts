import type { Texts } from '../../i18n/texts.ts';
import { about } from './about/texts.de.ts';
import { backups } from './backups/texts.de.ts';
import { emergency } from './emergency/texts.de.ts';
import { guide } from './guide/texts.de.ts';
import { history } from './history/texts.de.ts';
import { imports } from './import/texts.de.ts';
import { overview } from './overview/texts.de.ts';
import { traffic } from './overview/traffic/texts.de.ts';
import { described } from './settings/described.de.ts';
import { settings } from './settings/texts.de.ts';
import type { system as english } from './texts.en.ts';

export const system: Texts<typeof english> & { described: typeof described } = {
  described,
  imports,
  noMatch: 'Hier passt nichts.',
  overview,
  traffic,
  backups,
  emergency,
  settings,
  guide,
  history,
  about,
};
