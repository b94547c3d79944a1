import { GUIDES } from './guides.ts';
import { SECTIONS, type Section } from './views.ts';

export interface GuideTitle {
  /** Of the page, in its address. */
  name: string;
  title: string;
  /** Of the page and its title: English where there is none in the one that was asked for. */
  language: 'en' | 'de';
}

/** All pages of the guide in a language, for as far as they are written in it. */
export const guideTitles = (language: string): GuideTitle[] =>
  SALLYPORT_GUIDE.map(([name, { en, de }]) =>
    language === 'de' && de !== undefined ? { name, title: de, language } : { name, title: en, language: 'en' },
  );

/** The pages of the guide by the section of the navigation whose screens they tell of; `undefined`: of none. */
export const guideBySection = (language: string): Map<Section | undefined, GuideTitle[]> => {
  const sectionOf = new Map<string, Section>();
  for (const { name, views } of SECTIONS) {
    for (const view of views) {
      const [page = ''] = GUIDES[view.name].split('#');
      if (name !== undefined && !sectionOf.has(page)) sectionOf.set(page, name);
    }
  }
  const order = [...sectionOf.keys()];
  const pages = guideTitles(language).toSorted((one, other) => order.indexOf(one.name) - order.indexOf(other.name));
  const bySection = Map.groupBy(pages, ({ name }) => sectionOf.get(name));
  const sections = [...SECTIONS.map(({ name }) => name).filter((name) => name !== undefined), undefined];
  return new Map(sections.map((section) => [section, bySection.get(section) ?? []]));
};
