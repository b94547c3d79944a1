import { ACCESS_LIST_DEFAULTS, AccessListPatch } from './access-list.ts';
import { FieldChange } from './history.ts';
import { NOTIFICATION_DEFAULTS, NotificationSettings } from './notification.ts';
import { choice, REFUSED_FIELDS, Uuid } from './primitives.ts';
import { PROXY_HOST_DEFAULTS, ProxyHostFields } from './proxy-host.ts';
import { RemoteServerFields } from './remote-server.ts';
import { Ruleset } from './ruleset.ts';
import { type Static, Type } from './schema.ts';
import { SECURITY_DEFAULTS, SecurityConfigPatch, WafExclusion } from './security.ts';
import { SETTINGS, type SettingDefinition, type SettingKey } from './setting.ts';

/** The version of the document's format. */
export const CONFIG_FORMAT = 1;

const nameOf = (what: string) =>
  Type.Union([Type.String({ minLength: 1, maxLength: 8_192 }), Type.Null()], {
    description: `${what}, by its name; where several have that, by the name with what tells them apart, as an export writes it.`,
  });

const {
  remote_server_id: _server,
  certificate_id: _certificate,
  access_list_id: _list,
  domain,
  ...hostFields
} = ProxyHostFields.properties;

export const ProxyHostAsCode = Type.Object(
  {
    domain,
    ...Type.Partial(
      Type.Object({
        ...hostFields,
        remote_server: nameOf('Remote server'),
        certificate: nameOf('Certificate, which has to be there: neither it nor its key is in the document'),
        access_list: nameOf('Access list'),
      }),
    ).properties,
  },
  {
    title: 'ProxyHostAsCode',
    description:
      'Is the host that has the first of its domains; forward_host and forward_port are required for a new one.',
  },
);

const { name: serverName, ...serverFields } = RemoteServerFields.properties;
const RemoteServerAsCode = Type.Object(
  { name: serverName, ...Type.Partial(Type.Object(serverFields)).properties },
  { title: 'RemoteServerAsCode', description: 'host and port are required for a new one.' },
);

export const AccessListAsCode = Type.Object(
  { ...AccessListPatch.properties, name: Type.String({ minLength: 1, maxLength: 255 }) },
  { title: 'AccessListAsCode', description: 'type is required for a new one.' },
);

const RulesetAsCode = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 255 }),
    source_url: Type.Optional(Type.String({ maxLength: 2_048, description: 'Noted; the rules are those in content.' })),
    mode: Type.Optional(Ruleset.properties.mode),
    content: Type.Optional(Type.String({ minLength: 1, description: 'SecLang rules; required for a new set.' })),
  },
  { title: 'RulesetAsCode' },
);

const { host_uuid: _uuid, ...exclusionFields } = WafExclusion.properties;
const WafExclusionAsCode = Type.Object(
  {
    ...exclusionFields,
    host: Type.Optional(
      Type.String({ minLength: 1, maxLength: 253, description: 'A domain of the proxy host. Absent: for all.' }),
    ),
    host_uuid: Type.Optional({ ...Uuid, description: 'A host that is gone, which may come back.' }),
  },
  { title: 'WafExclusionAsCode' },
);

/** What says of secrets that they have no place here: a guess at what was meant would lead them into a file for git. */
const noSecrets = (where: string, names: readonly string[]) => ({
  [REFUSED_FIELDS]: Object.fromEntries(names.map((name) => [name, `is a secret, which no document holds: ${where}`])),
});

/** Without the master switch, which is a setting, and the URL of a chat's webhook, which is a credential. */
const {
  enabled: _enabled,
  webhook_url: _url,
  waf_exclusions: _exclusions,
  ...securityFields
} = SecurityConfigPatch.properties;
const SecurityAsCode = Type.Object(
  { ...securityFields, waf_exclusions: Type.Optional({ ...Type.Array(WafExclusionAsCode), maxItems: 1_000 }) },
  { title: 'SecurityAsCode', ...noSecrets('POST /security/config sets it', ['webhook_url']) },
);

const { webhook_secret_set: _isSet, webhook_url: _webhook, ...notificationFields } = NotificationSettings.properties;
const NotificationsAsCode = Type.Partial(Type.Object(notificationFields), {
  title: 'NotificationsAsCode',
  ...noSecrets('PUT /security/notifications/settings sets it', ['webhook_url', 'webhook_secret']),
});

const definitions = Object.entries(SETTINGS) as [SettingKey, SettingDefinition][];
const settingsThat = (isWanted: (definition: SettingDefinition) => boolean): SettingKey[] =>
  definitions.filter(([, definition]) => isWanted(definition)).map(([key]) => key);
/** Settings that a document may hold: those that are no secrets. */
export const CODE_SETTINGS: readonly SettingKey[] = settingsThat(({ isSecret = false }) => !isSecret).sort();

const SettingsAsCode = Type.Object(
  Object.fromEntries(
    CODE_SETTINGS.map((key) => {
      const { description } = SETTINGS[key];
      const value = [Type.Boolean(), Type.Integer(), Type.String({ maxLength: 8_192 })];
      return [key, Type.Optional(Type.Union(value, { description }))];
    }),
  ),
  {
    title: 'SettingsAsCode',
    ...noSecrets(
      'POST /settings sets it',
      settingsThat(({ isSecret = false }) => isSecret),
    ),
  },
);

const MOST_OBJECTS = 50_000;
const many = <T extends Parameters<typeof Type.Array>[0]>(items: T) =>
  Type.Optional(Type.Array(items, { maxItems: MOST_OBJECTS }));

/** All that is configured, as one document. What it leaves out is left alone. */
export const ConfigDocument = Type.Object(
  {
    sallyport: Type.Integer({
      minimum: CONFIG_FORMAT,
      maximum: CONFIG_FORMAT,
      description: 'Version of the format: 1.',
    }),
    settings: Type.Optional(SettingsAsCode),
    security: Type.Optional(SecurityAsCode),
    notifications: Type.Optional(NotificationsAsCode),
    remote_servers: many(RemoteServerAsCode),
    access_lists: many(AccessListAsCode),
    rulesets: many(RulesetAsCode),
    proxy_hosts: many(ProxyHostAsCode),
  },
  { title: 'ConfigDocument' },
);
export type ConfigDocument = Static<typeof ConfigDocument>;

/** What a field has that a document leaves out, in the order in which a document has the fields. */
export const CODE_DEFAULTS = {
  remote_servers: { provider: 'generic', enabled: true },
  access_lists: ACCESS_LIST_DEFAULTS,
  rulesets: { source_url: '', mode: 'owasp' },
  proxy_hosts: PROXY_HOST_DEFAULTS,
  security: SECURITY_DEFAULTS,
  notifications: NOTIFICATION_DEFAULTS,
} as const;

export const ExportQuery = Type.Object(
  { format: Type.Optional(choice(['yaml', 'json'], { description: 'Default yaml.' })) },
  { title: 'ExportQuery' },
);
export type ExportQuery = Static<typeof ExportQuery>;

const flag = (description: string) => Type.Optional(choice(['true', 'false'], { description }));
export const ApplyQuery = Type.Object(
  {
    dry_run: flag('true: all is checked, and told what would change, and nothing is changed. Default false.'),
    prune: flag(
      'true: in the sections that the document has, what it leaves out is removed, or gets its default. Default false.',
    ),
  },
  { title: 'ApplyQuery' },
);
export type ApplyQuery = Static<typeof ApplyQuery>;

const SECTIONS = [
  ...(['settings', 'security', 'notifications', 'remote_servers'] as const),
  ...(['access_lists', 'rulesets', 'proxy_hosts'] as const),
] as const;
export type ConfigSection = (typeof SECTIONS)[number];

export const ConfigChange = Type.Object(
  {
    section: choice(SECTIONS, { description: 'Where in the document the object is.' }),
    name: Type.String({ description: 'What the document calls it; the section where there is one of it.' }),
    action: choice(['create', 'update', 'delete']),
    fields: Type.Array(FieldChange, { description: 'In the words of the document; null: not there, or the default.' }),
  },
  { title: 'ConfigChange' },
);
export type ConfigChange = Static<typeof ConfigChange>;

export const Applied = Type.Object(
  {
    changes: Type.Array(ConfigChange, {
      description: 'What changed, or would change. Empty: it is as the document says.',
    }),
    applied: Type.Boolean({ description: 'Something was changed; false for a dry run.' }),
    batch: Type.Union([Uuid, Type.Null()], {
      description: 'For POST /history/batches/{batch}/revert; null when nothing was changed.',
    }),
    backup: Type.Union([Type.String(), Type.Null()], {
      description: 'Name of the backup that was made before; null when nothing was changed.',
    }),
  },
  { title: 'Applied' },
);
export type Applied = Static<typeof Applied>;
