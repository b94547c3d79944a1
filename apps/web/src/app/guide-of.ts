import { GUIDES } from './guides.ts';
import { SECTIONS, type View } from './views.ts';

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

/** The screens that a page of the guide is about. */
export const screensOf = (page: string): View[] => VIEWS.filter(({ name }) => GUIDES[name].split('#')[0] === page);
