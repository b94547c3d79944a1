import { type GlobalOptions, readOptions } from './meaning/options.ts';
import { readSite, type Site } from './meaning/site.ts';
import type { CaddyfileSource } from './parse/file-set.ts';
import { type ParseOptions, parseCaddyfile } from './parse/parse.ts';
import type { Notice, ServerBlock } from './parse/tree.ts';
import { CaddyfileError } from './text/error.ts';

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
const MAX_HANDLERS = 1_000_000;

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
  const budget = { left: MAX_HANDLERS };
  const sites = blocks
    .filter(({ kind }) => kind === 'site')
    .map((block) => attempt(() => readSite(block, global, routes, budget)))
    .filter((site) => site !== undefined);
  return { options: global, sites, errors, notices, blocks };
};

/** `&(name)` without its decoration. */
const routeName = ({ keys }: ServerBlock): string => keys[0]!.text.slice(2, -1);
