import type { crowdsec } from '../../features/protection/crowdsec/texts.en.ts';
import type { firewall } from '../../features/protection/firewall/texts.en.ts';
import type { English } from './texts.ts';

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'common';
    /** Those of the neighbourhoods, and those that single screens bring along. */
    resources: English & { crowdsec: typeof crowdsec; firewall: typeof firewall };
    returnNull: false;
  }
}
