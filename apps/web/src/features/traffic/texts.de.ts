import type { Texts } from '../../i18n/texts.ts';
import { accounts, authority, certificates, dnsProviders, ordering, uploading } from './certificates/texts.de.ts';
import { hosts } from './hosts/texts.de.ts';
import type { traffic as english } from './texts.en.ts';

export const traffic: Texts<typeof english> = {
  accounts,
  authority,
  certificates,
  dnsProviders,
  ordering,
  uploading,
  hosts,
  noMatch: 'Hier passt nichts.',
  servers: {
    title: 'Entfernte Server',
    about: 'Rechner, auf denen deine Seiten laufen, einmal benannt.',
    add: 'Server hinzufügen',
    address: 'Adresse',
    answers: '{{address}} nimmt Verbindungen an',
    checked: 'Geprüft',
    enabled: 'Zur Auswahl angeboten',
    host: 'Rechnername oder Adresse',
    name: 'Name',
    none: 'Noch kein entfernter Server',
    noneAbout:
      'Ein entfernter Server ist ein Rechner, an den mehrere Hosts weiterleiten. Benenne ihn hier, prüfe, ob er antwortet, und ändere seine Adresse an einer Stelle.',
    port: 'Port',
    provider: 'Läuft auf',
    reachable: 'Antwortet',
    remove: '{{name}} löschen?',
    removeAbout: 'Solange Hosts ihn benutzen, wird er nicht gelöscht. Der Verlauf kann ihn zurückholen.',
    removed: '{{name}} ist gelöscht',
    saved: 'Gespeichert',
    state: 'Zustand',
    test: 'Verbindung prüfen',
    testOf: 'Verbindung zu {{name}} prüfen',
    unchecked: 'Nicht geprüft',
    unreachable: 'Keine Antwort',
    usedBy_one: 'Ein Host benutzt ihn',
    usedBy_other: '{{count}} Hosts benutzen ihn',
  },
};
