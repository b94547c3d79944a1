import { randomUUID } from 'node:crypto';
import { CODE_DEFAULTS, CODE_SETTINGS, type ConfigDocument, type ConfigSection, SETTINGS } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';
import { isSame, type State } from '@sallyport/store/history/state';
import type { Undoing } from '../reverter.ts';
import { domainsOf, matchHosts, matchNames, matchServers, type Pair } from './match.ts';
import { createNames, type Names } from './names.ts';
import { KIND_OF, type ListSection } from './sections.ts';
import {
  namedCertificate,
  namedList,
  namedServer,
  plainExclusion,
  plainRules,
  REFERENCE_FIELDS,
  REFERENCES,
  type Reference,
  type Stored,
} from './stored.ts';

/** One change that makes the store what a document says. */
export interface Step {
  section: ConfigSection;
  /** Path in the document, or the name of what it leaves out. */
  at: string;
  undoing: Undoing;
}

/** A pair whose object has an identity, and what is to be set of it. */
interface Planned<Section extends ListSection> extends Pair<Section> {
  uuid: string;
}

const REQUIRED: Readonly<Record<ListSection, readonly string[]>> = {
  remote_servers: ['host', 'port'],
  access_lists: ['type'],
  rulesets: ['content'],
  proxy_hosts: ['forward_host', 'forward_port'],
};

const identified = <Section extends ListSection>(pairs: readonly Pair<Section>[]): Planned<Section>[] =>
  pairs.map((pair) => ({ ...pair, uuid: pair.row?.uuid ?? randomUUID() }));

const differing = (given: State, current: State): State =>
  Object.fromEntries(Object.entries(given).filter(([field, value]) => !isSame(value, current[field])));

/** The step to what is wanted of an object; none when it is that already. `defaults`: for what is left out, when that is pruned. */
const stepTo = <Section extends ListSection>(
  section: Section,
  { at, row, uuid }: Planned<Section>,
  given: State,
  defaults: State,
): Step[] => {
  if (!row) {
    const missing = REQUIRED[section].find((field) => given[field] === undefined);
    if (missing !== undefined) throw refuse.invalid(`${at}.${missing} is required: there is no such object yet`);
    const state = { ...CODE_DEFAULTS[section], ...given, uuid };
    return [{ section, at, undoing: { does: 'restore', key: uuid, state } }];
  }
  const fields = differing({ ...defaults, ...given }, row as unknown as State);
  if (Object.keys(fields).length === 0) return [];
  // Rules are checked as a whole.
  const whole = section === 'rulesets' ? { ...row, ...fields } : fields;
  return [{ section, at, undoing: { does: 'update', key: uuid, fields: whole } }];
};

const leftOut = <Section extends ListSection>(
  section: Section,
  rows: readonly { uuid: string; name: string; domain?: string }[],
  planned: readonly Planned<Section>[],
): Step[] => {
  const kept = new Set(planned.map(({ uuid }) => uuid));
  return rows
    .filter(({ uuid }) => !kept.has(uuid))
    .map(({ uuid, name, domain }) => {
      const at = `${section}: ${domain ?? name}, which is left out`;
      return { section, at, undoing: { does: 'remove', key: uuid } };
    });
};

/** Steps that free domains which another host of the document gets, before it does. */
const freeingSteps = (hosts: readonly Planned<'proxy_hosts'>[]): Step[] => {
  const wanted = new Map(hosts.flatMap(({ entry, uuid }) => domainsOf(entry.domain).map((name) => [name, uuid])));
  return hosts.flatMap(({ at, entry, row, uuid }): Step[] => {
    if (!row) return [];
    const old = row.domain.split(',');
    if (!old.some((name) => (wanted.get(name) ?? uuid) !== uuid)) return [];
    const names = domainsOf(entry.domain);
    const domain = old.filter((name) => names.includes(name)).join(',');
    return [{ section: 'proxy_hosts', at, undoing: { does: 'update', key: uuid, fields: { domain } } }];
  });
};

/** What a host refers to, by uuid; where it is that already, by the id that it has. */
const referencesOf = (
  { at, entry, row }: Planned<'proxy_hosts'>,
  names: Readonly<Record<Reference, Names>>,
  uuids: Readonly<Record<Reference, ReadonlyMap<number, string>>>,
): State => {
  const found = REFERENCE_FIELDS.map((field): [string, unknown] => {
    const text = entry[field];
    const { id, what } = REFERENCES[field];
    if (text === undefined || text === null) return [id, text];
    const current = row?.[id] ?? null;
    const currentUuid = current === null ? undefined : uuids[field].get(current);
    const uuid = names[field].find(text, currentUuid, `${at}.${field}`, what);
    return [id, uuid === currentUuid ? current : uuid];
  });
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
};

const securityStep = (
  document: ConfigDocument,
  stored: Stored,
  hosts: readonly { uuid: string; domain: string }[],
  isPruning: boolean,
): Step[] => {
  if (!document.security) return [];
  const { waf_exclusions, ...given } = document.security;
  const owners = new Map(hosts.flatMap(({ uuid, domain }) => domainsOf(domain).map((name) => [name, uuid])));
  const exclusions = waf_exclusions?.map(({ host, ...exclusion }, index) => {
    const at = `security.waf_exclusions[${index}].host`;
    if (host === undefined) return plainExclusion(exclusion);
    if (exclusion.host_uuid !== undefined) throw refuse.invalid(`${at} can not be given together with host_uuid`);
    const host_uuid = owners.get(domainsOf(host)[0] ?? '');
    if (host_uuid === undefined) throw refuse.invalid(`${at} names no proxy host: ${JSON.stringify(host)}`);
    return plainExclusion({ ...exclusion, host_uuid });
  });
  const { webhook_url: _secret, ...defaults } = CODE_DEFAULTS.security;
  const wanted = {
    ...(isPruning ? defaults : {}),
    ...given,
    ...(exclusions && { waf_exclusions: exclusions }),
  };
  const now = { ...stored.security, waf_exclusions: stored.security.waf_exclusions.map(plainExclusion) };
  const fields = differing(wanted, now);
  if (Object.keys(fields).length === 0) return [];
  return [{ section: 'security', at: 'security', undoing: { does: 'update', key: '', fields } }];
};

const notificationStep = ({ notifications }: ConfigDocument, stored: Stored, isPruning: boolean): Step[] => {
  if (!notifications) return [];
  const { webhook_url: _secret, ...defaults } = CODE_DEFAULTS.notifications;
  const fields = differing({ ...(isPruning ? defaults : {}), ...notifications }, { ...stored.notifications });
  if (Object.keys(fields).length === 0) return [];
  return [{ section: 'notifications', at: 'notifications', undoing: { does: 'update', key: '', fields } }];
};

const settingSteps = ({ settings: given }: ConfigDocument, { settings }: Stored, isPruning: boolean): Step[] => {
  if (!given) return [];
  return CODE_SETTINGS.flatMap((key): Step[] => {
    const value = given[key];
    const at = `settings.${key}`;
    const current = settings.get(key);
    const isChanged = value === undefined ? isPruning && current !== SETTINGS[key].default : String(value) !== current;
    if (!isChanged) return [];
    const fields = { value: value === undefined ? null : String(value) };
    return [{ section: 'settings', at, undoing: { does: 'update', key, fields } }];
  });
};

/**
 * The steps from what is stored to what a document says, in the order in which they can be made. What it leaves out is left alone;
 * with `isPruning`, in the sections that it has, that goes, or gets its default. Throws a 400 with the path in the document.
 */
export const planSteps = (document: ConfigDocument, stored: Stored, isPruning: boolean): Step[] => {
  const defaultsIn = (section: keyof typeof CODE_DEFAULTS): State => (isPruning ? CODE_DEFAULTS[section] : {});
  const goingOf = <Section extends ListSection>(section: Section, planned: readonly Planned<Section>[]): Step[] =>
    isPruning && document[section] ? leftOut(section, stored[section], planned) : [];
  const keys = (steps: readonly Step[]) => new Set(steps.map(({ undoing }) => undoing.key));

  const servers = identified(matchServers(document.remote_servers ?? [], stored.remote_servers));
  const lists = identified(matchNames('access_lists', document.access_lists ?? [], stored.access_lists));
  const rulesets = identified(matchNames('rulesets', document.rulesets ?? [], stored.rulesets));
  const hosts = identified(matchHosts(document.proxy_hosts ?? [], stored.proxy_hosts));
  const going = {
    remote_servers: goingOf('remote_servers', servers),
    access_lists: goingOf('access_lists', lists),
    rulesets: goingOf('rulesets', rulesets),
    proxy_hosts: goingOf('proxy_hosts', hosts),
  };

  /** Objects as they will be: those that stay, and new ones. */
  const becoming = <T extends { uuid: string }>(
    section: ListSection,
    rows: readonly T[],
    planned: readonly { uuid: string; entry: object }[],
  ): T[] => {
    const gone = keys(going[section]);
    const all = new Map(rows.filter(({ uuid }) => !gone.has(uuid)).map((row) => [row.uuid, row]));
    for (const { uuid, entry } of planned) all.set(uuid, { ...all.get(uuid), ...entry, uuid } as unknown as T);
    return [...all.values()];
  };
  const names = {
    remote_server: createNames(becoming('remote_servers', stored.remote_servers, servers).map(namedServer)),
    certificate: createNames(stored.certificates.map(namedCertificate)),
    access_list: createNames(becoming('access_lists', stored.access_lists, lists).map(namedList)),
  };
  const uuidsOf = (rows: readonly { id: number; uuid: string }[]) => new Map(rows.map(({ id, uuid }) => [id, uuid]));
  const uuids = {
    remote_server: uuidsOf(stored.remote_servers),
    certificate: uuidsOf(stored.certificates),
    access_list: uuidsOf(stored.access_lists),
  };

  const hostSteps = hosts.flatMap((host) => {
    const { remote_server: _server, certificate: _certificate, access_list: _list, ...fields } = host.entry;
    const given = { ...fields, domain: domainsOf(fields.domain).join(','), ...referencesOf(host, names, uuids) };
    return stepTo('proxy_hosts', host, given, defaultsIn('proxy_hosts'));
  });
  const isNew = ({ undoing }: Step) => undoing.does === 'restore';

  return [
    ...servers.flatMap((one) => stepTo('remote_servers', one, one.entry, defaultsIn('remote_servers'))),
    ...lists.flatMap((one) => {
      const { rules } = one.entry;
      const given = { ...one.entry, ...(rules && { rules: plainRules(rules) }) };
      return stepTo('access_lists', one, given, defaultsIn('access_lists'));
    }),
    ...rulesets.flatMap((one) => stepTo('rulesets', one, one.entry, defaultsIn('rulesets'))),
    ...going.proxy_hosts,
    ...freeingSteps(hosts),
    ...hostSteps.filter((step) => !isNew(step)),
    ...hostSteps.filter(isNew),
    ...securityStep(document, stored, becoming('proxy_hosts', stored.proxy_hosts, hosts), isPruning),
    ...notificationStep(document, stored, isPruning),
    ...going.rulesets,
    ...going.remote_servers,
    ...going.access_lists,
    // Last of all: the master switch looks at what the security configuration says.
    ...settingSteps(document, stored, isPruning),
  ];
};

/** Who makes a step. */
export const kindOf = ({ section }: Step) => KIND_OF[section];
