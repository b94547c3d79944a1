import type { Texts } from '../../../i18n/texts.ts';
import type { emergency as english } from './texts.en.ts';

export const emergency: Texts<typeof english> = {
  title: 'Notfall',
  about:
    'Der Weg zurück, was auch immer dich aussperrt. Probier ihn, bevor du ihn brauchst, und behalte die Schritte auf Papier.',
  print: 'Schritte drucken',
  drill: 'Ist der Weg frei?',
  token: 'Notfall-Token',
  listener: 'Notfall-Server',
  isSet: 'Gesetzt',
  notSet: 'Nicht gesetzt',
  lastProven: 'Zuletzt bewiesen:',
  never: 'nie',
  drillAbout:
    'Eine Übung sieht alles an, was dich zurückbringt, schreibt ins Prüfprotokoll, was sie fand, und ändert nichts.',
  doDrill: 'Übung machen',
  allWell: 'Alles ist an seinem Platz: Der Weg ist bewiesen.',
  someNot_one: 'Eine Sache fehlt.',
  someNot_other: '{{count}} Sachen fehlen.',
  well: 'Vorhanden',
  notWell: 'Fehlt',
  checks: {
    token: 'Notfall-Token',
    listener: 'Notfall-Server',
    management: 'Wer zurücksetzen darf',
    store: 'Speicher',
    disk: 'Platte',
    proxy: 'Proxy',
    switches: 'Schalter',
    shell: 'Shell',
    backup: 'Backup',
    copies: 'Kopien',
  },
  setUp: 'Einrichten',
  setUpAbout:
    'In einer Shell auf dem Rechner. Starte Sallyport neu und bewahre das Token da auf, wo du es findest, wenn sonst nichts geht.',
  steps: 'Wenn es passiert ist',
  stepsAbout:
    'Jeder dieser Wege schaltet den Schutz aus, und der Proxy lässt sofort alle durch. Nichts wird gelöscht: Schalte den Schutz wieder ein, wenn du drin bist.',
  tier1: 'Von einer Adresse, die das darf (private Netze, wenn das nicht geändert wurde), mit dem Token:',
  tier2: 'Antwortet das nicht: durch einen Tunnel. Wo Name und Passwort gesetzt sind, mit -u name:passwort:',
  tier3: 'Ohne Token: in einer Shell auf dem Rechner, als Benutzer des Dienstes oder root:',
  after: 'Was ausgeschaltet wurde, steht im Verlauf und lässt sich dort in einem Schritt zurücknehmen.',
};
