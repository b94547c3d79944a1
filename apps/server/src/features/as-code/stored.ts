import {
  CODE_SETTINGS,
  SETTINGS,
  type SettingDefinition,
  type SettingKey,
  type WafExclusion,
} from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';
import type { State } from '@sallyport/store/history/state';
import type { DeclaredKinds, NamedCertificate } from '../declared.ts';
import { createNames, type Named, type Names } from './names.ts';

export interface StoreDeps {
  declared: DeclaredKinds;
  certificates: (executor: Executor) => Promise<NamedCertificate[]>;
}

type Rows<Kind extends keyof DeclaredKinds> = Awaited<ReturnType<DeclaredKinds[Kind]['all']>>;

/** All that can be configured, as it is stored. */
export interface Stored {
  remote_servers: Rows<'remote-servers'>;
  access_lists: Rows<'access-lists'>;
  rulesets: Rows<'security/rulesets'>;
  proxy_hosts: Rows<'proxy-hosts'>;
  security: Rows<'security/config'>[number];
  notifications: Rows<'security/notifications/settings'>[number];
  /** Values in force of settings that are no secrets. */
  settings: ReadonlyMap<SettingKey, string>;
  certificates: NamedCertificate[];
}

/** Reads everything; in a transaction, for what belongs together. */
export const readStored = async ({ declared, certificates }: StoreDeps, tx: Executor): Promise<Stored> => {
  const [security] = await declared['security/config'].all(tx);
  const [notifications] = await declared['security/notifications/settings'].all(tx);
  if (!security || !notifications) throw new Error('what there is one of is not there');
  const set = new Map((await declared.settings.all(tx)).map(({ key, value }) => [key, value]));
  return {
    remote_servers: await declared['remote-servers'].all(tx),
    access_lists: await declared['access-lists'].all(tx),
    rulesets: await declared['security/rulesets'].all(tx),
    proxy_hosts: await declared['proxy-hosts'].all(tx),
    security,
    notifications,
    settings: new Map(CODE_SETTINGS.map((key) => [key, set.get(key) ?? SETTINGS[key].default])),
    certificates: await certificates(tx),
  };
};

/** What hosts refer to, by field. */
export const REFERENCES = {
  remote_server: { id: 'remote_server_id', what: 'remote server' },
  certificate: { id: 'certificate_id', what: 'certificate' },
  access_list: { id: 'access_list_id', what: 'access list' },
} as const;
export type Reference = keyof typeof REFERENCES;
export const REFERENCE_FIELDS = Object.keys(REFERENCES) as Reference[];

export const namedServer = (server: { uuid: string; name: string; host: string; port: number }): Named => {
  const { uuid, name, host, port } = server;
  return { uuid, name, qualifier: `${host}:${port}` };
};
export const namedList = ({ uuid, name }: { uuid: string; name: string }): Named => ({ uuid, name, qualifier: '' });
export const namedCertificate = ({ uuid, name, domains }: NamedCertificate): Named => ({
  uuid,
  name: name || domains,
  qualifier: domains,
});

/** Names of all that hosts refer to. */
export const namesOf = ({ remote_servers, access_lists, certificates }: Stored): Record<Reference, Names> => ({
  remote_server: createNames(remote_servers.map(namedServer)),
  certificate: createNames(certificates.map(namedCertificate)),
  access_list: createNames(access_lists.map(namedList)),
});

/** The value of a setting as a document has it: of its type. */
export const settingValue = (key: SettingKey, value: string): boolean | number | string => {
  const { type }: SettingDefinition = SETTINGS[key];
  if (type === 'boolean') return value === 'true';
  return type === 'integer' ? Number(value) : value;
};

/** An exclusion in one form, so that two can be compared. */
export const plainExclusion = (exclusion: WafExclusion): WafExclusion => {
  const { rule_id, target, host_uuid, path, expires_at, description } = exclusion;
  return {
    rule_id: /^\d+$/.test(String(rule_id)) ? Number(rule_id) : String(rule_id),
    ...(target === undefined ? {} : { target }),
    ...(host_uuid === undefined ? {} : { host_uuid: host_uuid.toLowerCase() }),
    ...(path === undefined ? {} : { path }),
    ...(expires_at === undefined ? {} : { expires_at: new Date(expires_at).toISOString() }),
    description: description ?? '',
  };
};

/** The rules of an access list in one form. */
export const plainRules = (rules: readonly { cidr: string; description?: string }[]): State[] =>
  rules.map(({ cidr, description = '' }) => ({ cidr, description }));
