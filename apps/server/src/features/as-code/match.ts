import type { ConfigDocument } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';
import { parseDomainName } from '@sallyport/store/names/domain-name';
import type { ListSection } from './sections.ts';
import type { Stored } from './stored.ts';

export type Entry<Section extends ListSection> = NonNullable<ConfigDocument[Section]>[number];
export type Row<Section extends ListSection> = Stored[Section][number];

/** An object of a document with the one that is there. */
export interface Pair<Section extends ListSection> {
  /** Path in the document. */
  at: string;
  entry: Entry<Section>;
  /** Undefined for a new one. */
  row: Row<Section> | undefined;
}

const readName = (text: string): string => {
  try {
    return parseDomainName(text.trim());
  } catch {
    // It is refused, and said why, by who takes it.
    return text.trim();
  }
};

/** Domains as they are stored. */
export const domainsOf = (domain: string): string[] => [...new Set(domain.split(',').map(readName))];

const firstOf = (domain: string): string => domainsOf(domain)[0] ?? '';

/** Takes each row once: the first that `isSame` among those of its key. */
const takeFrom = <T>(rows: readonly T[], keyOf: (row: T) => string) => {
  const left = Map.groupBy(rows, keyOf);
  return (key: string, isSame: (row: T) => boolean = () => true): T | undefined => {
    const among = left.get(key) ?? [];
    const index = among.findIndex(isSame);
    return index === -1 ? undefined : among.splice(index, 1)[0];
  };
};

/** Pairs objects with those of the same name. Throws a 400 for a name that comes twice. */
export const matchNames = <Section extends 'access_lists' | 'rulesets'>(
  section: Section,
  entries: readonly Entry<Section>[],
  rows: readonly Row<Section>[],
): Pair<Section>[] => {
  const take = takeFrom<Row<Section>>(rows, ({ name }) => name);
  const seen = new Map<string, string>();
  return entries.map((given, index) => {
    const at = `${section}[${index}]`;
    const entry = { ...given, name: given.name.trim() };
    const { name } = entry;
    const earlier = seen.get(name);
    if (earlier !== undefined) throw refuse.invalid(`${at}.name is that of ${earlier}`);
    seen.set(name, at);
    return { at, entry, row: take(name) };
  });
};

/** Pairs remote servers, whose names need not be unique: those that lead to the same place first. */
export const matchServers = (
  entries: readonly Entry<'remote_servers'>[],
  rows: readonly Row<'remote_servers'>[],
): Pair<'remote_servers'>[] => {
  const take = takeFrom(rows, ({ name }) => name);
  const pairs = entries.map((entry, index): Pair<'remote_servers'> => {
    const { name, host, port } = entry;
    const row = take(name, (one) => one.host === host && one.port === port);
    return { at: `remote_servers[${index}]`, entry, row };
  });
  return pairs.map((pair) => (pair.row ? pair : { ...pair, row: take(pair.entry.name) }));
};

/** Pairs hosts by the first of their domains. Throws a 400 for a domain that two of them have. */
export const matchHosts = (
  entries: readonly Entry<'proxy_hosts'>[],
  rows: readonly Row<'proxy_hosts'>[],
): Pair<'proxy_hosts'>[] => {
  const seen = new Map<string, string>();
  const takeFirst = takeFrom(rows, ({ domain }) => firstOf(domain));
  const pairs = entries.map((entry, index): Pair<'proxy_hosts'> => {
    const at = `proxy_hosts[${index}]`;
    for (const name of domainsOf(entry.domain)) {
      const earlier = seen.get(name);
      if (earlier !== undefined) throw refuse.invalid(`${at}.domain has ${name.slice(0, 253)}, which ${earlier} has`);
      seen.set(name, at);
    }
    return { at, entry, row: takeFirst(firstOf(entry.domain)) };
  });
  const taken = new Set(pairs.map(({ row }) => row));
  const owners = new Map(rows.flatMap((row) => row.domain.split(',').map((name) => [name, row])));
  return pairs.map((pair) => {
    const owner = owners.get(firstOf(pair.entry.domain));
    if (pair.row || !owner || taken.has(owner)) return pair;
    taken.add(owner);
    return { ...pair, row: owner };
  });
};
