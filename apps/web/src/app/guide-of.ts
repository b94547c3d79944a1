import { GUIDES } from './guides.ts';
import { SECTIONS, type Section, type View } from './views.ts';

/** Screens that the navigation does not lead to. */
const OTHERS: readonly (readonly [string, string])[] = [
  ['/security/notifications', 'security#notifications'],
  ['/account', 'accounts#signing-in'],
];

const VIEWS = SECTIONS.flatMap((section) => section.views);

const BY_PATH = [...OTHERS, ...VIEWS.map(({ path, name }) => [path, GUIDES[name]] as const)].toSorted(
  ([one], [other]) => other.length - one.length,
);

/** Where in the guide a screen is told of: the longest beginning of its address counts. undefined: nowhere. */
export const guideOf = (address: string): string | undefined => {
  const found = BY_PATH.find(([path]) => address === path || (path !== '/' && address.startsWith(`${path}/`)));
  return found && `/guide/${found[1]}`;
};

/** The pages of the guide by the section of the navigation whose screens they tell of; `undefined`: of none. */
export const guideBySection = (): Map<Section | undefined, [page: string, title: string][]> => {
  const sectionOf = new Map<string, Section>();
  for (const { name, views } of SECTIONS) {
    for (const view of views) {
      const [page = ''] = GUIDES[view.name].split('#');
      if (name !== undefined && !sectionOf.has(page)) sectionOf.set(page, name);
    }
  }
  const order = [...sectionOf.keys()];
  const pages = SALLYPORT_GUIDE.map(([page, title]): [string, string] => [page, title]).toSorted(
    ([one], [other]) => order.indexOf(one) - order.indexOf(other),
  );
  const bySection = Map.groupBy(pages, ([page]) => sectionOf.get(page));
  const sections = [...SECTIONS.map(({ name }) => name).filter((name) => name !== undefined), undefined];
  return new Map(sections.map((section) => [section, bySection.get(section) ?? []]));
};

/** The screens that a page of the guide is about. */
export const screensOf = (page: string): View[] => VIEWS.filter(({ name }) => GUIDES[name].split('#')[0] === page);
