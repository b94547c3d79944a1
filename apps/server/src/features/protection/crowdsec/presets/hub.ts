import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LISTS = '/usr/share/crowdsec/data';

/** Debian ships one list under another name than its scenario asks for; without it every line is an error of 13 kB. */
const RENAMED: Readonly<Record<string, string>> = { 'http_path_traversal.txt': 'path_traversal.txt' };

/** A scenario about what clients ask of a web server; not all of them name the kind of log. */
const OF_HTTP = /http_access-log|Meta\.service == 'http'|Meta\.http_(?:path|status|user_agent)/;

/** A scenario that judges what clients ask of a web server. */
export interface HubScenario {
  /** `author/name`. */
  name: string;
  description: string;
  /** Its name among the files of the instance. */
  file: string;
  path: string;
  /** Names of the lists that it reads, and where they are. */
  lists: [name: string, from: string][];
}

/** What can be applied and taken back as one. */
export interface HubPreset {
  name: string;
  kind: 'collection' | 'scenario';
  description: string;
  /** Those that judge what clients ask of a web server; none: it is about something else. */
  scenarios: HubScenario[];
}

export interface Hub {
  /** By name. */
  presets: ReadonlyMap<string, HubPreset>;
  scenarios: readonly HubScenario[];
}

type Entry = Readonly<Record<string, unknown>>;
type Entries = Readonly<Record<string, Entry | undefined>>;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const namesIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];

/** What the hub says of itself; nothing when it does not. Its scenarios are there all the same. */
const readIndex = (hub: string): { collections: Entries; scenarios: Entries } => {
  const path = join(hub, '.index.json');
  const index = (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}) as Record<string, Entries | undefined>;
  return { collections: index.collections ?? {}, scenarios: index.scenarios ?? {} };
};

/** Where a scenario's lists are; undefined when one is missing, which would stop the start. */
const listsOf = (scenario: string): [name: string, from: string][] | undefined => {
  const names = [...scenario.matchAll(/^\s*(?:- )?dest_file:\s*["']?([\w.-]+)/gm)].map(([, name = '']) => name);
  const found = names.map((name): [string, string] => [name, join(LISTS, RENAMED[name] ?? name)]);
  return found.every(([, from]) => existsSync(from)) ? found : undefined;
};

/** Every scenario by its name; undefined for one that is about something else, or lacks its lists. */
const readScenarios = (hub: string, described: Entries): Map<string, HubScenario | undefined> => {
  const scenarios = new Map<string, HubScenario | undefined>();
  for (const entry of readdirSync(join(hub, 'scenarios'), { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.yaml')) continue;
    const path = join(entry.parentPath, entry.name);
    const [author = '', file = ''] = path.split('/').slice(-2);
    const name = `${author}/${file.slice(0, -'.yaml'.length)}`;
    const text = readFileSync(path, 'utf8');
    const lists = OF_HTTP.test(text) ? listsOf(text) : undefined;
    const description = textOf(described[name]?.description);
    scenarios.set(name, lists && { name, description, file: `${author}-${file}`, path, lists });
  }
  return scenarios;
};

/** Reads an offline hub. Throws when it can't be read. */
export const readHub = (hub: string): Hub => {
  const index = readIndex(hub);
  const scenarios = readScenarios(hub, index.scenarios);
  const presets = new Map<string, HubPreset>();

  /** Of a collection and of those that it is made of, which may name each other. */
  const namesOf = (collection: string, seen = new Set<string>()): string[] => {
    if (seen.has(collection)) return [];
    seen.add(collection);
    const { scenarios: own, collections } = index.collections[collection] ?? {};
    return [...namesIn(own), ...namesIn(collections).flatMap((name) => namesOf(name, seen))];
  };

  for (const [name, { description } = {}] of Object.entries(index.collections)) {
    const held = [...new Set(namesOf(name))].flatMap((held) => scenarios.get(held) ?? []);
    presets.set(name, { name, kind: 'collection', description: textOf(description), scenarios: held });
  }
  for (const [name, scenario] of scenarios) {
    // One that has the name of its collection is the same thing.
    if (presets.has(name)) continue;
    const description = scenario?.description ?? textOf(index.scenarios[name]?.description);
    presets.set(name, { name, kind: 'scenario', description, scenarios: scenario ? [scenario] : [] });
  }
  return { presets, scenarios: [...scenarios.values()].filter((scenario) => scenario !== undefined) };
};

/** A preset was applied or taken back. */
export interface PresetChoice {
  preset: string;
  applied: boolean;
}

/** The scenarios that are to be in force: all, but for what was taken back. Of several choices about one, the last counts. */
export const chosenOf = ({ presets, scenarios }: Hub, choices: readonly PresetChoice[]): HubScenario[] => {
  const chosen = new Set(scenarios);
  for (const { preset, applied } of choices) {
    for (const scenario of presets.get(preset)?.scenarios ?? []) {
      if (applied) chosen.add(scenario);
      else chosen.delete(scenario);
    }
  }
  return [...chosen];
};
