import type { Texts } from '../../../i18n/texts.ts';
import type { security as english } from './texts.en.ts';

export const security: Texts<typeof english> = {
  title: 'Sicherheit',
  about: 'Was zwischen deinen Besuchern und deinen Seiten steht, und was jeder Schalter bewirkt.',
  suite: 'Schutz',
  suiteAbout:
    'Der Hauptschalter. Solange er aus ist, wirkt nichts von dem unten, was immer sein eigener Schalter sagt.',
  on: 'An',
  off: 'Aus',
  enforced: 'Durchgesetzt',
  notEnforced: 'Nicht durchgesetzt',
  enable: 'Schutz einschalten',
  disable: 'Schutz ausschalten',
  disableAbout:
    'Danach hält keine Sperre, keine Anfragengrenze, keine Zugriffsliste und keine Regel der Firewall jemanden auf. Alles Eingestellte bleibt, und wirkt wieder, sobald der Schutz eingeschaltet wird.',
  disableToken: 'Not-Aus-Token',
  disableTokenAbout: 'Auf dem Rechner selbst ist keines nötig. Von woanders braucht es eines, und verbraucht es.',
  enabled: 'Der Schutz ist an. Bestätige es oben, von hier.',
  disabled: 'Der Schutz ist aus',
  saved: 'Gespeichert',
  savedPending: 'Für eine Minute gespeichert. Bestätige es oben, wenn noch alles geht.',
  modules: 'Was er tut',
  modulesAbout: 'Eine Anfrage kommt von oben nach unten; was sie zuerst abweist, erfahren der Besucher und das Log.',
  acts: 'Wirkt',
  ready: 'Wartet auf den Hauptschalter',
  order: {
    decisions: 'Sperren',
    decisionsOn:
      'Gesperrte Adressen und Netze bekommen eine 403, ob du sie gesperrt hast oder CrowdSec. Braucht keinen eigenen Schalter.',
    rate_limit: 'Anfragengrenze',
    rate_limitOn: 'Wer zu oft fragt, bekommt eine 429, bis das Zeitfenster weitergerückt ist.',
    rate_limitOff: 'Besucher dürfen fragen, so oft sie wollen.',
    acl: 'Zugriffslisten',
    aclOn: 'Hosts mit einer Zugriffsliste lassen nur herein, wen die Liste zulässt; andere bekommen eine 403.',
    aclOff: 'Zugriffslisten lassen jeden herein, auch bei Hosts, die eine nennen.',
    waf: 'Firewall',
    wafBlock:
      'Anfragen, die nach einem Angriff aussehen, werden abgewiesen, mit einer Referenz, die den Grund erklärt.',
    wafMonitor:
      'Anfragen, die nach einem Angriff aussehen, werden durchgelassen und gemeldet als das, was abgewiesen worden wäre.',
    wafOff: 'Niemand sieht sich an, was Anfragen enthalten.',
    crowdsec: 'CrowdSec',
    crowdsecOn: 'CrowdSec beobachtet den Verkehr dieses Rechners und sperrt Adressen, die sich schlecht benehmen.',
    crowdsecOff: 'CrowdSec läuft nicht, und seine Sperren zählen nicht.',
  },
  switchOf: '{{name}}: an oder aus',
  open: '{{name}} öffnen',
  lockOut: 'Nie ausgesperrt',
  lockOutAbout:
    'Adressen, die hier nichts je aufhält: keine Sperre, keine Anfragengrenze, keine Zugriffsliste, keine Regel. Trage deine eigene ein, bevor du den Schutz einschaltest.',
  whitelist: 'Adressen und Netze der Verwaltung',
  whitelistHint: 'Durch Kommas getrennt: 203.0.113.10, 2001:db8:1::/48',
  youAre: 'Du kommst von {{ip}}.',
  youAreIn: 'Deine Adresse steht in der Liste: Du kannst dich nicht aussperren.',
  youAreOut: 'Deine Adresse steht nicht in der Liste.',
  addMine: 'Meine Adresse eintragen',
  guarded:
    'Eine Änderung, die dich aussperren könnte, nimmt sich nach einer Minute zurück, wenn du sie nicht von hier bestätigst.',
  breakGlass: 'Not-Aus-Token',
  breakGlassAbout:
    'Schaltet den Schutz einmal aus, von überall, auch für jemanden, der sich nicht mehr anmelden kann. Nur sein Hash wird aufbewahrt; ein neues macht das vorige ungültig.',
  makeToken: 'Token erzeugen',
  tokenShown: 'Schreib es jetzt auf: Es wird nicht noch einmal gezeigt.',
  tokenUse: 'Von überall, wenn du ausgesperrt bist:',
  rateLimit: 'Anfragengrenze',
  rateLimitAbout: 'Zählt die Anfragen jeder Adresse (bei IPv6: jedes /64).',
  rateLimitInWords_one:
    'Ein Besucher darf {{requests}} Anfragen in einer Sekunde stellen, und {{burst}} mehr, bevor eine 429 ihn warten heißt.',
  rateLimitInWords_other:
    'Ein Besucher darf {{requests}} Anfragen in {{count}} Sekunden stellen, und {{burst}} mehr, bevor eine 429 ihn warten heißt.',
  requests: 'Anfragen',
  window: 'in so vielen Sekunden',
  burst: 'und so viele mehr',
  bypass: 'Nicht gezählt',
  bypassHint: 'Adressen und Netze, durch Kommas getrennt. Vorgabe: keine',
  apiAuth: 'Wer diese Oberfläche und ihre API benutzen darf',
  apiAuthAbout:
    'Wird mit SALLYPORT_API_AUTH beim Start des Dienstes festgelegt, damit niemand, der hereinkommt, sie für alle öffnet.',
  apiAsks: 'Verlangt eine Anmeldung',
  apiAsksAbout: 'Von hier aus erfährt niemand etwas, der nicht angemeldet ist.',
  apiOpen: 'Von hier aus offen',
  apiOpenAbout:
    'Wer diese Adresse von hier aus erreicht, kommt ohne Anmeldung herein: Auf dem Rechner selbst ist das die Vorgabe (local). SALLYPORT_API_AUTH=required fragt jeden.',
  toNotifications: 'Benachrichtigungen',
};
