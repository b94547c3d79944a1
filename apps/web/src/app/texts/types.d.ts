import type { crowdsec } from '../../features/protection/crowdsec/texts.en.ts';
import type { firewall } from '../../features/protection/firewall/texts.en.ts';
import type { protection } from '../../features/protection/texts.en.ts';
import type { en } from './en.ts';

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'common';
    /** Those of the page, and those that come with their screens. */
    resources: typeof en & { crowdsec: typeof crowdsec; firewall: typeof firewall; protection: typeof protection };
    returnNull: false;
  }
}
