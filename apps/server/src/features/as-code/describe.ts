import {
  CODE_DEFAULTS,
  CONFIG_FORMAT,
  type ConfigDocument,
  type ConfigSection,
  SETTINGS,
  type SettingKey,
  type WafExclusion,
} from '@sallyport/contract';
import { isSame, type State } from '@sallyport/store/history/state';
import { namesOf, plainExclusion, REFERENCE_FIELDS, REFERENCES, type Stored, settingValue } from './stored.ts';

/** An object in the words of a document, without what is as the defaults have it. */
export interface Described {
  /** What stays the same of it whatever is changed. */
  key: string;
  name: string;
  fields: State;
}

const pick = (object: object, names: readonly string[], defaults: State): State =>
  Object.fromEntries(
    names
      .map((name): [string, unknown] => [name, (object as State)[name]])
      .filter(([name, value]) => value !== undefined && !(name in defaults && isSame(value, defaults[name]))),
  );

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
const byName = (a: Described, b: Described): number =>
  compare(a.name, b.name) || compare(JSON.stringify(a.fields), JSON.stringify(b.fields));

const namesIn = (section: keyof typeof CODE_DEFAULTS): string[] => Object.keys(CODE_DEFAULTS[section]);

const describeHosts = (stored: Stored): Described[] => {
  const names = namesOf(stored);
  const uuids = {
    remote_server: new Map(stored.remote_servers.map(({ id, uuid }) => [id, uuid])),
    certificate: new Map(stored.certificates.map(({ id, uuid }) => [id, uuid])),
    access_list: new Map(stored.access_lists.map(({ id, uuid }) => [id, uuid])),
  };
  const { forward_scheme, remote_server_id, certificate_id, access_list_id, name, ...rest } = CODE_DEFAULTS.proxy_hosts;
  const order = ['domain', 'name', 'forward_scheme', 'forward_host', 'forward_port', ...Object.keys(rest)];
  return stored.proxy_hosts.map((host) => {
    const references = REFERENCE_FIELDS.flatMap((field): [string, string][] => {
      const uuid = uuids[field].get(host[REFERENCES[field].id] ?? 0);
      const label = uuid === undefined ? undefined : names[field].labelOf(uuid);
      return label === undefined ? [] : [[field, label]];
    });
    const fields = { ...pick(host, order, CODE_DEFAULTS.proxy_hosts), ...Object.fromEntries(references) };
    return { key: host.uuid, name: host.domain.split(',', 1)[0] ?? '', fields };
  });
};

const describeList = (list: Stored['access_lists'][number]): Described => {
  const rules = list.rules.map(({ cidr, description = '' }) => ({
    cidr,
    ...(description === '' ? {} : { description }),
  }));
  const order = ['name', 'type', ...namesIn('access_lists')];
  return { key: list.uuid, name: list.name, fields: pick({ ...list, rules }, order, CODE_DEFAULTS.access_lists) };
};

const describeSecurity = ({ security, proxy_hosts }: Stored): Described => {
  const names = new Map(proxy_hosts.map(({ uuid, domain }) => [uuid, domain.split(',', 1)[0]]));
  const inWords = (exclusion: WafExclusion): State => {
    const { host_uuid, description, ...rest } = plainExclusion(exclusion);
    const host = host_uuid === undefined ? undefined : names.get(host_uuid);
    return {
      ...rest,
      ...(host === undefined ? {} : { host }),
      ...(host === undefined && host_uuid !== undefined ? { host_uuid } : {}),
      ...(description === '' ? {} : { description }),
    };
  };
  const waf_exclusions = security.waf_exclusions.map(inWords);
  const order = namesIn('security').filter((name) => name !== 'webhook_url');
  const fields = pick({ ...security, waf_exclusions }, order, CODE_DEFAULTS.security);
  return { key: 'security', name: 'security', fields };
};

const describeNotifications = ({ notifications }: Stored): Described => {
  const order = namesIn('notifications').filter((name) => name !== 'webhook_url');
  return {
    key: 'notifications',
    name: 'notifications',
    fields: pick(notifications, order, CODE_DEFAULTS.notifications),
  };
};

const describeSettings = ({ settings }: Stored): Described[] =>
  [...settings]
    .filter(([key, value]) => value !== SETTINGS[key].default)
    .map(([key, value]) => ({ key, name: key, fields: { value: settingValue(key as SettingKey, value) } }));

/** All that is stored in the words of a document, in its order. */
export const describe = (stored: Stored): Record<ConfigSection, Described[]> => ({
  settings: describeSettings(stored),
  security: [describeSecurity(stored)],
  notifications: [describeNotifications(stored)],
  remote_servers: stored.remote_servers
    .map((server) => ({
      key: server.uuid,
      name: server.name,
      fields: pick(server, ['name', 'host', 'port', ...namesIn('remote_servers')], CODE_DEFAULTS.remote_servers),
    }))
    .sort(byName),
  access_lists: stored.access_lists.map(describeList).sort(byName),
  rulesets: stored.rulesets
    .map((ruleset) => ({
      key: ruleset.uuid,
      name: ruleset.name,
      fields: pick(ruleset, ['name', ...namesIn('rulesets'), 'content'], CODE_DEFAULTS.rulesets),
    }))
    .sort(byName),
  proxy_hosts: describeHosts(stored).sort(byName),
});

/** The document of all that is stored; `withSettings`: for whom may read those. */
export const toDocument = (stored: Stored, withSettings: boolean): ConfigDocument => {
  const { settings, security, notifications, ...lists } = describe(stored);
  const values = Object.fromEntries(settings.map(({ name, fields }) => [name, fields.value]));
  const entries = Object.entries(lists).map(([section, all]) => [section, all.map(({ fields }) => fields)]);
  return {
    sallyport: CONFIG_FORMAT,
    ...(withSettings ? { settings: values } : {}),
    security: security[0]?.fields,
    notifications: notifications[0]?.fields,
    ...Object.fromEntries(entries),
  } as ConfigDocument;
};
