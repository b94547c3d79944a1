import type { Texts } from '../../../i18n/texts.ts';
import type { about as english } from './texts.en.ts';

export const about: Texts<typeof english> = {
  title: 'Über Sallyport',
  about: 'Welche Version läuft, woraus sie besteht, und wie Programme mit ihr reden.',
  versions: 'Versionen',
  version: 'Version',
  ours: 'Sallyport ist freie Software unter der Apache License 2.0.',
  api: 'Für Programme',
  apiAbout: 'Was diese Oberfläche tut, tut sie über die API: Das kannst du auch.',
  apiDocs: 'Die API, zum Lesen und Ausprobieren beschrieben',
  openapi: 'Dasselbe als OpenAPI-Dokument',
  metrics: 'Messwerte für Prometheus',
  packages: 'Was mitkommt',
  package: 'Paket',
  licence: 'Lizenz',
};
