import type { Texts } from '../../../i18n/texts.ts';
import type { guide as english } from './texts.en.ts';

export const guide: Texts<typeof english> = {
  title: 'Handbuch',
  besides: 'Außerdem',
  onlyEnglish: 'Diese Seite gibt es nur auf Englisch.',
  ofThisVersion: 'Von Sallyport {{version}}, wie es hier läuft.',
};
