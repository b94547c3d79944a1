import { addTexts } from '../../i18n/index.ts';
import { protection as de } from './texts.de.ts';
import { protection as en } from './texts.en.ts';

// They come with the first of these screens, not with the page.
addTexts('protection', { en, de });
