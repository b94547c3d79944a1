import type { Texts } from '../../../../i18n/texts.ts';
import type { traffic as english } from './texts.en.ts';

export const traffic: Texts<typeof english> = {
  title: 'Anfragen und Fehler',
  range: 'Gezeigte Zeit',
  ranges: { h1: '1 Stunde', h24: '24 Stunden', h48: '48 Stunden' },
  noneYet: 'Über diese Zeit ist nichts bekannt: HAProxy hat nicht geantwortet oder wurde noch nicht gezählt.',
  sum_one: 'Eine Anfrage',
  sum_other: '{{shown}} Anfragen',
  peak: 'höchstens {{shown}} in einer Minute, um {{when}}',
  clientErrors: '{{shown}} mit 4xx beantwortet',
  serverErrors: '{{shown}} mit 5xx beantwortet',
  unknown: 'Über {{duration}} dieser Zeit ist nichts bekannt.',
  node: 'Gezählt vom HAProxy auf {{node}}.',
  requests: 'Anfragen',
  client: 'Fehler 4xx, Skala rechts',
  server: 'Fehler 5xx, Skala rechts',
  chart: 'Anfragen und Fehler über die Zeit; die Summen stehen darüber.',
  at: '{{from}} – {{to}}: Anfragen {{requests}}, 4xx {{client}}, 5xx {{server}}',
  atUnknown: '{{from}} – {{to}}: nicht bekannt',
};
