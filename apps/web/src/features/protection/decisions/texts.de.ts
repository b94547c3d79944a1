import type { Texts } from '../../../i18n/texts.ts';
import type { decisions as english } from './texts.en.ts';

export const decisions: Texts<typeof english> = {
  title: 'Sperren',
  about: 'Gesperrte Adressen und Netze: von wem, warum und bis wann.',
  ban: 'Adresse sperren',
  none: 'Niemand ist gesperrt',
  noneAbout:
    'Sperre eine Adresse oder ein Netz für eine Weile, oder lass CrowdSec es nach dem tun, was es sieht. Wer gesperrt ist, bekommt eine 403.',
  noMatch: 'Keine Sperre passt.',
  notEnforced: 'Nicht durchgesetzt',
  ip: 'Adresse oder Netz',
  ipHint: '203.0.113.7, 203.0.113.0/24 oder 2001:db8::/48',
  details: 'Warum',
  detailsHint: 'Für alle, die später nachsehen. Vorgabe: leer',
  duration: 'Wie lange',
  durations: {
    hour: 'Eine Stunde',
    hours: 'Vier Stunden',
    day: 'Einen Tag',
    week: 'Eine Woche',
    month: '30 Tage',
    ever: 'Bis sie beendet wird',
  },
  source: 'Von',
  sources: { manual: 'Der Verwaltung', crowdsec: 'CrowdSec' },
  anySource: 'Von allen',
  made: 'Gesetzt',
  ends: 'Endet',
  never: 'Nie von selbst',
  unban: 'Beenden',
  unbanOf: 'Sperre von {{ip}} beenden',
  unbanned: '{{ip}} ist dadurch nicht mehr gesperrt',
  banned: '{{ip}} ist gesperrt',
  state: 'Zustand',
  enforced: 'Durchgesetzt',
};
