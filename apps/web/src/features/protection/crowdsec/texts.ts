import { addTexts } from '../../../i18n/index.ts';
import { crowdsec as de } from './texts.de.ts';
import { crowdsec as en } from './texts.en.ts';

// They come with the first of these screens, not with the page.
addTexts('crowdsec', { en, de });
