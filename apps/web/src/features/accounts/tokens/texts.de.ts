import type { Texts } from '../../../i18n/texts.ts';
import type { tokens as english } from './texts.en.ts';

export const tokens: Texts<typeof english> = {
  title: 'API-Token',
  about: 'Für Programme: Jedes handelt für den, der es gemacht hat, und hat nie mehr Rechte als er.',
  add: 'Token machen',
  make: 'Machen',
  name: 'Wofür es ist',
  role: 'Rolle',
  roleAbout: 'Benutzer: nur Hosts. Administrator: fast alles; nie Benutzer, Token oder was zum Anmelden nötig ist.',
  owner: 'Handelt für',
  hint: 'Beginnt mit',
  expires: 'Läuft ab',
  lastUsed: 'Zuletzt benutzt',
  never: 'Nie',
  lasts: 'Gilt',
  days: { '30': '30 Tage', '90': '90 Tage', '365': 'ein Jahr', '0': 'für immer' },
  token: 'Das Token',
  once: 'Es wird nur dieses eine Mal gezeigt. Leg es dorthin, wo das Programm es liest; wer es hat, handelt als du.',
  kept: 'Ich habe es',
  none: 'Noch kein Token',
  noneAbout:
    'Ein Skript für Backups, eine Anzeige, eigene Werkzeuge: Jedes bekommt ein eigenes Token, damit jedes einzeln widerrufen werden kann.',
  revoke: 'Widerrufen',
  revokeOf: '{{name}} widerrufen',
  revokeAsk: '{{name}} widerrufen?',
  revokeAbout: 'Was es benutzt, wird sofort abgewiesen. Es lässt sich nicht zurückholen.',
  revoked: '{{name}} ist widerrufen.',
  expired: 'Abgelaufen',
};
