import { type GlobalOptions, readOptions } from './meaning/options.ts';
import { portOf, readSite, type Site } from './meaning/site.ts';
import type { CaddyfileSource } from './parse/file-set.ts';
import { type ParseOptions, parseCaddyfile } from './parse/parse.ts';
import type { Notice, ServerBlock } from './parse/tree.ts';
import { CaddyfileError, show } from './text/error.ts';

/** What Caddyfiles mean. `sites` are those without an error in them. */
export interface CaddyfileMeaning {
  options: GlobalOptions;
  sites: Site[];
  errors: CaddyfileError[];
  notices: Notice[];
  /** The sites as blocks, those with an error too. */
  blocks: ServerBlock[];
}

/** More than there are words in what is read; only named routes that invoke each other get there. */
const MAX_LINES = 1_000_000;

/** Reads Caddyfiles into sites. Never throws because of what they say. */
export const readCaddyfiles = (sources: readonly CaddyfileSource[], options: ParseOptions = {}): CaddyfileMeaning => {
  const { blocks, errors, notices } = parseCaddyfile(sources, options);
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof CaddyfileError)) throw error;
      errors.push(error);
      return undefined;
    }
  };
  const optionsBlock = blocks.find(({ kind }) => kind === 'options');
  const global = attempt(() => readOptions(optionsBlock)) ?? readOptions(undefined);
  const routes = new Map(blocks.filter(({ kind }) => kind === 'named-route').map((one) => [routeName(one), one]));
  const budget = { left: MAX_LINES };
  const taken = new Set<string>();
  const sites = blocks
    .filter(({ kind }) => kind === 'site')
    .map((block) =>
      attempt(() => {
        const site = readSite(block, global, routes, budget);
        takeAddresses(site, global, taken);
        return site;
      }),
    )
    .filter((site) => site !== undefined);
  return { options: global, sites, errors, notices, blocks };
};

/** Throws when another site has an address of this one: nobody could tell which is meant. */
const takeAddresses = ({ addresses }: Site, options: GlobalOptions, taken: Set<string>): void => {
  const keys = addresses.map((address) => `${address.host} ${portOf(address, options)} ${address.path}`);
  for (const [index, key] of keys.entries()) {
    const { token } = addresses[index]!;
    if (taken.has(key)) throw new CaddyfileError(`there is a site ${show(token.text)} already`, token, token.text);
  }
  for (const key of keys) taken.add(key);
};

/** `&(name)` without its decoration. */
const routeName = ({ keys }: ServerBlock): string => keys[0]!.text.slice(2, -1);
