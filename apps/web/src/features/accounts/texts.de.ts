import type { Texts } from '../../i18n/texts.ts';
import { account } from './account/texts.de.ts';
import { audit } from './audit/texts.de.ts';
import type { accounts as english } from './texts.en.ts';
import { tokens } from './tokens/texts.de.ts';
import { users } from './users/texts.de.ts';

export const accounts: Texts<typeof english> = {
  account,
  audit,
  tokens,
  users,
  email: 'E-Mail-Adresse',
  password: 'Passwort',
  name: 'Name',
  signIn: {
    title: 'Anmelden',
    submit: 'Anmelden',
    code: 'Code der Authenticator-App',
    codeHint: 'Sechs Ziffern oder einer deiner Wiederherstellungscodes.',
    wait: 'Zu viele Versuche. In {{seconds}} Sekunden geht es wieder.',
    ended: 'Deine Sitzung ist beendet',
    endedAbout: 'Melde dich an und mach weiter, wo du warst. Was du getippt hast, ist noch da.',
    somebodyElse: 'Als jemand anderes anmelden; was nicht gespeichert ist, geht verloren',
  },
  setup: {
    title: 'Willkommen bei Sallyport',
    about: 'Der erste Administrator. Alles andere kann warten.',
    passwordHint:
      'Mindestens 10 Zeichen. Ein paar Wörter hintereinander merkt man sich leicht, und sie sind schwer zu erraten.',
    token: 'Einrichtungs-Token',
    tokenHint: 'Sallyport hat es beim Start ausgegeben; es wird verlangt, weil du von einem anderen Rechner kommst.',
    submit: 'Administrator anlegen',
    done: 'Es gibt schon einen Administrator.',
  },
  invite: {
    title: 'Du bist eingeladen',
    about: 'Wähle ein Passwort für {{email}}.',
    submit: 'Annehmen und anmelden',
    gone: 'Diese Einladung gilt nicht mehr. Bitte um eine neue.',
  },
};
