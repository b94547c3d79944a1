import { addTexts } from '../../../i18n/index.ts';
import { firewall as de } from './texts.de.ts';
import { firewall as en } from './texts.en.ts';

// They come with the first of these screens, not with the page.
addTexts('firewall', { en, de });
